/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * Writes the tables of crc.c to standard output. Run by the build, so that the tables are constant
 * data.
 */

#include <stdint.h>
#include <stdio.h>

#define POLYNOMIAL 0xD008 /* 0x100B, least significant bit first */
#define SLICES     16

static uint16_t step(uint16_t crc)
{
	for (int bit = 0; bit < 8; bit++)
		crc = (uint16_t)(crc & 1 ? crc >> 1 ^ POLYNOMIAL : crc >> 1);
	return crc;
}

int main(void)
{
	printf("/* Made by crc16_gen.c. */\n#include <stdint.h>\n\n"
	       "#define CRC16_SLICES %d\n\n"
	       "static const uint16_t crc16_slices[%d][256] = {\n",
	       SLICES, SLICES);
	for (int k = 0; k < SLICES; k++) {
		printf("{");
		for (unsigned b = 0; b < 256; b++) {
			uint16_t crc = (uint16_t)b;

			for (int zeros = 0; zeros <= k; zeros++)
				crc = step(crc);
			printf("0x%04X,%c", crc, b % 8 == 7 ? '\n' : ' ');
		}
		printf("},\n");
	}
	printf("};\n");
	return 0;
}
