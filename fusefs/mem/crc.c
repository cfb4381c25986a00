/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mem/crc.h"

#include <pthread.h>

#define POLYNOMIAL 0xedb88320 /* of IEEE 802.3, lowest bit first */

static uint32_t crc_table[8][256];
static pthread_once_t crc_once = PTHREAD_ONCE_INIT;

static void make_crc_table(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t crc = i;

		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
		crc_table[0][i] = crc;
	}
	for (uint32_t i = 0; i < 256; i++)
		for (int k = 1; k < 8; k++)
			crc_table[k][i] =
				crc_table[k - 1][i] >> 8 ^
				crc_table[0][crc_table[k - 1][i] & 0xff];
}

uint32_t crc_words(uint32_t crc, const uint64_t *words, size_t n)
{
	pthread_once(&crc_once, make_crc_table);
	crc = ~crc;
	while (n--) {
		uint64_t w = *words++ ^ crc;

		crc = 0;
		for (int k = 0; k < 8; k++)
			crc ^= crc_table[7 - k][w >> (8 * k) & 0xff];
	}
	return ~crc;
}
