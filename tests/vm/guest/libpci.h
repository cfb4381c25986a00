/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Config space and physical memory, for programs that do without a module. */
#ifndef LIBPCI_H
#define LIBPCI_H

#include <stddef.h>
#include <stdint.h>

/** pci_get() - read @width (1, 2, 4) bytes at @off; ends the program if not */
uint32_t pci_get(const char *bdf, unsigned int off, unsigned int width);

/** pci_get_all() - the first @len bytes, by dwords as a driver reads them */
void pci_get_all(const char *bdf, uint8_t *buf, unsigned int len);

/** pci_set() - write; ends the program if the kernel refuses */
void pci_set(const char *bdf, unsigned int off, unsigned int width, uint32_t val);

/** phys_map() - @len bytes of physical address space, through /dev/mem */
volatile void *phys_map(uint64_t addr, size_t len);

#endif /* LIBPCI_H */
