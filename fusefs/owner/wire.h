/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What k80-worker and the program that started it say to each other, over a
 * SOCK_SEQPACKET pair: a request, lines that it makes meanwhile, its answer.
 * Bytes of any number go through memory that both have mapped.
 */
#ifndef OWNER_WIRE_H
#define OWNER_WIRE_H

#include <stdint.h>

#include "owner/launch.h"

/* descriptors that a worker is started with, and all it gets */
#define WIRE_SOCKET 3
#define WIRE_SHARED 4
#define WIRE_LEASE  5 /* where there is a module: see struct worker_start */

#define WIRE_TEXT_LEN 512

/* descriptors of a request; the kernel takes up to 253 (SCM_MAX_FD) */
#define WIRE_MAX_CHUNKS 240
#define WIRE_UUID_LEN   16

enum wire_op {
	WIRE_COUNT, /* cuInit: @value is how many devices it sees */
	WIRE_ONLINE, /* context, buffers, built-in kernels; @value: the device */
	WIRE_LOAD, /* replace the user's module: @len bytes in the stage */
	WIRE_LAUNCH, /* @launch; then the GPU writes @mark */
	WIRE_FILL, /* the whole stage to the buffer `in`, before a launch */
	WIRE_COPY, /* between stage and buffer, and wait; @sync_ns */
	WIRE_POLL, /* 0, or -EAGAIN: something runs */
	WIRE_MAP, /* put the chunks of @map, one descriptor each, behind others */
	WIRE_UNMAP, /* end what WIRE_MAP made; nothing runs */
	WIRE_END, /* leave the die in order; the answer is the socket's end */
	WIRE_ACK, /* of a WIRE_STEP */
};

/**
 * struct wire_map - memory to be mapped as one range
 * @key:   the range's, chosen by who asks
 * @bytes: of it in all, the same in each request of a range
 * @uuid:  of the device that it is on
 * @n:     chunks in this request, and descriptors with it
 * @len:   bytes of each
 */
struct wire_map {
	uint64_t key;
	uint64_t bytes;
	uint8_t uuid[WIRE_UUID_LEN];
	uint32_t n;
	uint32_t reserved;
	uint64_t len[WIRE_MAX_CHUNKS];
};

/**
 * struct wire_request - what is asked
 * @op:       enum wire_op
 * @seat:     which of the worker's dies
 * @is_user:  LAUNCH: a kernel of the user's module
 * @buffer:   COPY: enum owner_buffer
 * @is_write: COPY: into the buffer
 * @mark:     LAUNCH: what @done of struct wire_shared becomes behind it
 * @off:      COPY: in the buffer; @len: COPY, LOAD: bytes from the stage's start
 */
struct wire_request {
	uint32_t op;
	uint32_t seat;
	uint32_t is_user;
	uint32_t buffer;
	uint32_t is_write;
	uint32_t mark;
	uint64_t off;
	uint64_t len;
	union {
		struct owner_launch launch; /* LAUNCH */
		struct wire_map map; /* MAP */
	};
};

enum wire_kind {
	WIRE_STEP, /* @text is about to be done: waits for WIRE_ACK */
	WIRE_SAY, /* a line of the log */
	WIRE_BLAME, /* the same, about what failed */
	WIRE_DONE, /* the answer */
};

/**
 * struct wire_reply - what comes back
 * @kind:    enum wire_kind
 * @result:  DONE: 0 or -errno
 * @is_lost: DONE: a kernel spoilt the context, every call fails from now on
 * @value:   COUNT, ONLINE; LAUNCH: 1 if the kernel runs, whatever @result is
 * @anchor:  COUNT: pid of the worker's anchor, 0 for none
 * @sync_ns: COPY: what the wait for the stream took
 * @text:    a line; ONLINE: the device's name
 */
struct wire_reply {
	uint32_t kind;
	int32_t result;
	uint32_t is_lost;
	int32_t value;
	int32_t anchor;
	uint32_t reserved;
	uint64_t sync_ns;
	char text[WIRE_TEXT_LEN];
};

/**
 * struct wire_shared - memory of one die that its GPU reads and writes too
 * @done:  the GPU writes it behind each kernel, so that asking needs no window
 * @stage: what goes into a buffer, and what comes out of one
 */
struct wire_shared {
	unsigned char done;
	unsigned char page[4095];
	unsigned char stage[OWNER_BYTES];
};

#endif /* OWNER_WIRE_H */
