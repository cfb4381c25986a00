/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CRC-32, as of Ethernet and zlib.
 */
#ifndef MEM_CRC_H
#define MEM_CRC_H

#include <stddef.h>
#include <stdint.h>

/**
 * crc_words() - of memory, eight bytes a step
 * @crc: of what is before it, 0 for nothing
 * @n:   words
 */
uint32_t crc_words(uint32_t crc, const uint64_t *words, size_t n);

#endif /* MEM_CRC_H */
