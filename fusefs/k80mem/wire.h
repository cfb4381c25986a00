/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How k80fs gives a file's memory away: two ioctls on the open file, and the
 * messages of its socket (SOCK_SEQPACKET), whose path the ioctl says.
 *
 * The client sends a struct k80_ask with the token. The server answers with a
 * struct k80_head; on success batches follow, a struct k80_batch with as many
 * descriptors as it has chunks. Each but the last is answered with a struct
 * k80_ack, and then the next one comes: the kernel limits the descriptors that
 * are under way.
 */
#ifndef K80MEM_WIRE_H
#define K80MEM_WIRE_H

#include <stdint.h>
#include <sys/ioctl.h>

#define K80_TOKEN_LEN 16
#define K80_UUID_LEN  16

/* descriptors of a message; the kernel takes up to 253 (SCM_MAX_FD) */
#define K80_BATCH_MAX 240

/**
 * struct k80_share - of K80_SHARE: a right to a file's memory
 * @token:  good once, for a few seconds, at @socket
 * @len:    of the file, bytes
 * @uuid:   of the device
 * @socket: path, with its NUL
 */
struct k80_share {
	uint8_t token[K80_TOKEN_LEN];
	uint64_t len;
	uint8_t uuid[K80_UUID_LEN];
	char socket[104];
};

/** struct k80_where - of K80_WHERE: a file's length and device */
struct k80_where {
	uint64_t len;
	uint8_t uuid[K80_UUID_LEN];
};

/* The file must be open for reading and writing; holes are filled first.
 * EACCES: it is not; EAGAIN: too many tokens are not used yet; ENOSPC; ... */
#define K80_SHARE _IOR('8', 0x53, struct k80_share)
/* Any open file. */
#define K80_WHERE _IOR('8', 0x54, struct k80_where)

#define K80_WIRE_MAGIC \
	0x6b38306d /* and the version: another is another magic */

struct k80_ask {
	uint32_t magic;
	uint32_t reserved;
	uint8_t token[K80_TOKEN_LEN];
};

/**
 * struct k80_head - the answer
 * @result:   0; -EACCES: no such token (any more); -errno
 * @n_chunks: in all; @bytes: of them together
 * @len:      of the file, bytes, at most @bytes
 */
struct k80_head {
	uint32_t magic;
	int32_t result;
	uint32_t n_chunks;
	uint32_t reserved;
	uint64_t len;
	uint64_t bytes;
	uint8_t uuid[K80_UUID_LEN];
};

/** struct k80_batch - the next @n chunks, behind one another: their bytes */
struct k80_batch {
	uint32_t n;
	uint32_t reserved;
	uint64_t len[K80_BATCH_MAX];
};

/** struct k80_ack - how many chunks have come in all */
struct k80_ack {
	uint32_t n_chunks;
};

#endif /* K80MEM_WIRE_H */
