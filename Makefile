# SPDX-License-Identifier: GPL-2.0-or-later
# k80fs: GPU dies as files. `make help` lists the targets.

VERSION := 1.0
SOVERSION := 1

# either name, as packagers are used to
PREFIX ?= /usr/local
prefix ?= $(PREFIX)
bindir ?= $(prefix)/bin
sbindir ?= $(prefix)/sbin
# k80fs and k80-owner look for k80-worker in ../libexec/k80fs, k80fs for
# k80-keeper, which has commands of its own, in ../sbin
libexecdir ?= $(prefix)/libexec/k80fs
libdir ?= $(prefix)/lib
includedir ?= $(prefix)/include
mandir ?= $(prefix)/share/man
# where the python3 of Debian looks for what was installed beside it
pythondir ?= $(prefix)/lib/python$(PYTHON_VERSION)/dist-packages
PYTHON_VERSION = $(shell /usr/bin/python3 -c \
	'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null || echo 3)
completiondir ?= $(prefix)/share/bash-completion/completions
COMPLETED := k80-owner k80-keeper k80-doctor k80-top umount.k80fs
# mount(8), systemd and udev look in fixed places; bar_swap.conf keeps the
# vendor's driver away, so it is the owner of a card who copies it to modprobe.d
helperdir ?= /sbin
unitdir ?= /etc/systemd/system
udevdir ?= /etc/udev/rules.d
DESTDIR ?=

CC ?= gcc
SAN ?=
B ?= build$(if $(SAN),-$(subst $(comma),-,$(SAN)))
comma := ,

# the newest API of libfuse that its version has: 3.12 gave the loop a config
FUSE_API = $(shell pkg-config --atleast-version=3.12 fuse3 && echo 312 || echo 35)
FUSE_CFLAGS = $(shell pkg-config --cflags fuse3) -DFUSE_USE_VERSION=$(FUSE_API)
FUSE_LIBS = $(shell pkg-config --libs fuse3)
CHECK_CFLAGS = $(shell pkg-config --cflags check)
CHECK_LIBS = $(shell pkg-config --libs check)

WARN := -Wall -Wextra -Wmissing-prototypes -Wshadow -Wvla -Werror
HARDEN := -fstack-protector-strong -fPIC -fcf-protection
ifeq ($(SAN),)
# the C library warns of the checks where nothing is optimised, so that who
# gives CFLAGS of his own decides on both; some compilers define it themselves
OPT ?= -O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
else
OPT ?= -O1 -fno-omit-frame-pointer
SANFLAGS := -fsanitize=$(SAN) $(if $(findstring thread,$(SAN)),,-fno-sanitize-recover=all)
endif
CFLAGS ?= -g $(OPT)
override CFLAGS += -std=gnu11 -D_GNU_SOURCE -DK80FS_VERSION='"$(VERSION)"' \
	$(WARN) $(HARDEN) $(SANFLAGS) -pthread -iquote . -iquote fusefs
override LDFLAGS += $(SANFLAGS) -pthread -Wl,-z,relro,-z,now
# clang checks the lock annotations of util.h
ifneq ($(findstring clang,$(CC)),)
override CFLAGS += -Wthread-safety
endif

# the daemon talks to k80-keeper; the rest of keeper/ is that program's
KEEPER_CLIENT := $(addprefix fusefs/keeper/,client.c start.c)
# one folder a layer, lowest first
LAYERS := base text cuda copy lib backend owner keeper sched mem engine \
	compute fuse
# libbarswap has the copy engine in it, and so has who links it
LIB_SRC := $(wildcard fusefs/lib/*.c fusefs/copy/*.c)
FS_SRC := $(wildcard fusefs/*.c $(patsubst %,fusefs/%/*.c, \
	$(filter-out copy lib owner keeper,$(LAYERS)))) \
	$(KEEPER_CLIENT)
# k80-owner alone has commands and a main; the daemon has the rest too
OWNER_ONLY := $(addprefix fusefs/owner/,main.c session.c repl.c input.c)
OWNER_SRC := $(filter-out $(OWNER_ONLY),$(wildcard fusefs/owner/*.c))
# the library of programs that use a file's device memory
K80MEM_SRC := $(wildcard fusefs/k80mem/*.c)
# what includes a FUSE header
FUSE_SRC := fusefs/main.c fusefs/options.c $(wildcard fusefs/fuse/*.c)
CHECK_SRC := $(filter-out tests/unit/fuzz_%,$(wildcard tests/unit/*.c))

LIB_OBJ := $(LIB_SRC:%.c=$(B)/%.o)
FS_OBJ := $(FS_SRC:%.c=$(B)/%.o)
OWNER_OBJ := $(OWNER_SRC:%.c=$(B)/%.o)
K80MEM_OBJ := $(K80MEM_SRC:%.c=$(B)/%.o)
CUDA_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard fusefs/cuda/*.c))
# what the owner needs besides libbarswap
OWNER_DEPS := $(OWNER_OBJ) $(B)/fusefs/text/words.o
# the program that holds a die's context
WORKER_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard fusefs/owner/worker/*.c)) \
	$(CUDA_OBJ) $(addprefix $(B)/fusefs/,owner/minor.o text/words.o)
KEEPER_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard fusefs/keeper/*.c))
# k80-top, which draws with ncurses, or without has plain text alone
TOP := mount-helpers/top
NCURSES_LIBS := $(shell pkg-config --silence-errors --libs ncurses)
TOP_SRC := $(filter-out $(addprefix $(TOP)/,$(if $(NCURSES_LIBS),nolive.c, \
	live.c screen.c)),$(wildcard $(TOP)/*.c))
TOP_OBJ := $(TOP_SRC:%.c=$(B)/%.o)
CHECK_OBJ := $(CHECK_SRC:%.c=$(B)/%.o)
# what the unit tests stand in for
CHECK_WRAP := $(addprefix -Wl$(comma)--wrap=,ioctl fallocate mremap \
	clock_gettime getuid geteuid getgid getgrnam fstatfs cuda_open \
	cuda_has_vmm)
# everything of the daemon the unit tests link: all that knows no FUSE, and
# the command line
UNIT_OBJ := $(filter-out $(FUSE_SRC:%.c=$(B)/%.o),$(FS_OBJ)) \
	$(B)/fusefs/options.o $(OWNER_OBJ) $(K80MEM_OBJ) \
	$(addprefix $(B)/fusefs/owner/,repl.o input.o worker/hide.o worker/leave.o) \
	$(addprefix $(B)/$(TOP)/,delay.o find.o rows.o sample.o)

SONAME := libbarswap.so.$(SOVERSION)
K80MEM_SONAME := libk80mem.so.$(SOVERSION)
LIBS_OUT := $(B)/libbarswap.a $(B)/$(SONAME).0 $(B)/barswap.pc \
	$(B)/libk80mem.a $(B)/$(K80MEM_SONAME).0 $(B)/k80mem.pc
PROGS := $(B)/k80fs $(B)/k80-owner $(B)/k80-worker $(B)/k80-keeper $(B)/k80-top \
	$(B)/vram_persist $(B)/compute_persist
# what k80-doctor is made of; it looks for them in ../share/k80fs/doctor
DOCTOR := $(wildcard mount-helpers/doctor/*)
slurmdir = $(prefix)/share/k80fs/slurm
SLURM_LINKS := prolog epilog task-prolog
MAN3 := fusefs/lib/libbarswap.3 fusefs/k80mem/libk80mem.3
MAN4 := kmod/bar_swap.4
MAN8 := $(wildcard fusefs/*.8 fusefs/owner/*.8 fusefs/keeper/*.8 mount-helpers/*.8)
# a libcuda that runs on the CPU; tests choose it with LD_LIBRARY_PATH
STANDIN_SRC := $(wildcard tests/cuda/standin_*.c)
STANDIN_OBJ := $(STANDIN_SRC:%.c=$(B)/%.o)
TESTS := $(B)/check_all $(B)/test_barswap $(B)/law $(B)/cuda/libcuda.so.1

.PHONY: all
## all          build the daemon and the library
all: $(LIBS_OUT) $(PROGS)

.PHONY: help
## help         this list
help:
	@sed -n 's/^##  */  /p' Makefile

$(B)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(FUSE_SRC:%.c=$(B)/%.o) $(B)/tests/unit/check_options.o: \
	override CFLAGS += $(FUSE_CFLAGS)
$(CHECK_OBJ) $(B)/tests/test_barswap.o: override CFLAGS += $(CHECK_CFLAGS) -iquote tests/unit
$(patsubst %.c,$(B)/%.o,$(wildcard $(TOP)/*.c)) $(CHECK_OBJ): \
	override CFLAGS += -iquote mount-helpers
$(B)/$(TOP)/screen.o: override CFLAGS += $(shell pkg-config --cflags ncurses)

$(B)/libbarswap.a: $(LIB_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^

$(B)/$(SONAME).0: $(LIB_OBJ) fusefs/lib/barswap.map
	$(CC) -shared $(LDFLAGS) -Wl,-soname,$(SONAME) \
		-Wl,--version-script=fusefs/lib/barswap.map -o $@ $(LIB_OBJ)
	ln -sf $(SONAME).0 $(B)/$(SONAME)
	ln -sf $(SONAME).0 $(B)/libbarswap.so

# one object whose other names nobody can meet: programs have some like them
$(B)/libk80mem.a: $(K80MEM_OBJ) $(CUDA_OBJ)
	@rm -f $@
	$(LD) -r -o $(B)/libk80mem.o $^
	objcopy --wildcard --keep-global-symbol='k80_*' $(B)/libk80mem.o
	$(AR) rcs $@ $(B)/libk80mem.o

$(B)/$(K80MEM_SONAME).0: $(K80MEM_OBJ) $(CUDA_OBJ) \
		fusefs/k80mem/k80mem.map
	$(CC) -shared $(LDFLAGS) -Wl,-soname,$(K80MEM_SONAME) \
		-Wl,--version-script=fusefs/k80mem/k80mem.map -o $@ \
		$(filter %.o,$^) -ldl
	ln -sf $(K80MEM_SONAME).0 $(B)/$(K80MEM_SONAME)
	ln -sf $(K80MEM_SONAME).0 $(B)/libk80mem.so

# made each time, as prefix may be another than the last time; touched only if
# so, and by one of two makes at a time
$(B)/barswap.pc: fusefs/lib/barswap.pc.in
$(B)/k80mem.pc: fusefs/k80mem/k80mem.pc.in
$(B)/barswap.pc $(B)/k80mem.pc: FORCE
	@mkdir -p $(@D)
	@sed -e 's|@prefix@|$(prefix)|' -e 's|@libdir@|$(libdir)|' \
	    -e 's|@includedir@|$(includedir)|' -e 's|@version@|$(VERSION)|' \
	    $(filter %.in,$^) > $@.$$$$ && if cmp -s $@.$$$$ $@; then rm $@.$$$$; \
	    else mv -f $@.$$$$ $@; fi

.PHONY: FORCE
FORCE:

$(B)/k80fs: $(FS_OBJ) $(OWNER_OBJ) $(B)/libbarswap.a
	$(CC) $(LDFLAGS) -o $@ $^ $(FUSE_LIBS) -ldl

$(B)/k80-owner: $(OWNER_ONLY:%.c=$(B)/%.o) $(OWNER_DEPS) $(B)/libbarswap.a
	$(CC) $(LDFLAGS) -o $@ $^ -ldl

$(B)/k80-worker: $(WORKER_OBJ) $(B)/libbarswap.a
	$(CC) $(LDFLAGS) -o $@ $^ -ldl

$(B)/k80-keeper: $(KEEPER_OBJ)
	$(CC) $(LDFLAGS) -o $@ $^

$(B)/k80-top: $(TOP_OBJ)
	$(CC) $(LDFLAGS) -o $@ $^ $(NCURSES_LIBS)

$(B)/vram_persist: $(B)/tests/vram_persist.o $(OWNER_DEPS) $(B)/libbarswap.a
	$(CC) $(LDFLAGS) -o $@ $^

$(B)/compute_persist: $(B)/tests/compute_persist.o $(OWNER_DEPS) $(B)/libbarswap.a
	$(CC) $(LDFLAGS) -o $@ $^ -ldl

# its tests run the programs and open the library
$(B)/check_all: $(CHECK_OBJ) $(UNIT_OBJ) $(B)/libbarswap.a | \
		$(B)/k80-keeper $(B)/k80-worker $(B)/cuda/libcuda.so.1
	$(CC) $(LDFLAGS) $(CHECK_WRAP) -o $@ $^ $(CHECK_LIBS) $(FUSE_LIBS) -ldl

$(B)/cuda/libcuda.so.1: $(STANDIN_OBJ)
	@mkdir -p $(@D)
	$(CC) -shared $(LDFLAGS) -Wl,-soname,libcuda.so.1 -o $@ $^

$(B)/law: $(patsubst %.c,$(B)/%.o,$(wildcard tests/law/*.c)) $(B)/libbarswap.a
	$(CC) $(LDFLAGS) -o $@ $^

$(B)/test_barswap: $(B)/tests/test_barswap.o $(B)/libbarswap.a
	$(CC) $(LDFLAGS) -o $@ $^ $(CHECK_LIBS)

.PHONY: tests
tests: $(TESTS)
	$(MAKE) -s -f tests/mount/Makefile OUT="$(B)/mount" CC="$(CC)"

# the module's dies where it is loaded, else simulated ones and a libcuda on the CPU
PERSIST_ENV = $(if $(wildcard /dev/bar_swap),,BARSWAP_DEVICE=sim:vram=64M \
	LD_LIBRARY_PATH="$(CURDIR)/$(B)/cuda")
DIE ?= 0

.PHONY: test-barswap vram-persist compute-persist
## test-barswap vram-persist compute-persist    on /dev/bar_swap where it exists;
##              overwrites the memory of DIE (0) and others
test-barswap vram-persist compute-persist:
	$(MAKE) -s all tests
	$(PERSIST_ENV) $(B)/$(subst -,_,$@) $(if $(filter %-persist,$@),$(DIE))

# libFuzzer comes with clang alone; the fuzzed unit and the target, nothing else
FUZZ_CC ?= clang
FUZZ_SECONDS ?= 5
FUZZ_FLAGS := -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all
$(B)/fuzz_ctl: tests/unit/fuzz_ctl.c $(addprefix fusefs/,text/ctl.c text/ctl.h \
	text/lines.c text/lines.h text/words.c text/words.h base/util.h) Makefile
	@mkdir -p $(@D)
	$(FUZZ_CC) -g -O1 -std=gnu11 -D_GNU_SOURCE $(WARN) -iquote fusefs \
		$(FUZZ_FLAGS) -o $@ tests/unit/fuzz_ctl.c \
		fusefs/text/ctl.c fusefs/text/lines.c fusefs/text/words.c

.PHONY: syntax-32
# sources that a 32-bit compiler takes, warnings and all; nothing is built
syntax-32:
	$(CC) $(CPPFLAGS) $(CFLAGS) $(FUSE_CFLAGS) -m32 -fsyntax-only \
		$(LIB_SRC) $(FS_SRC) $(wildcard fusefs/owner/*.c fusefs/keeper/*.c)

$(B)/fuzz_table: tests/unit/fuzz_table.c $(addprefix fusefs/mem/,table.c table.h \
	record.c record.h crc.c crc.h) Makefile
	@mkdir -p $(@D)
	$(FUZZ_CC) -g -O1 -std=gnu11 -D_GNU_SOURCE $(WARN) -iquote fusefs \
		$(FUZZ_FLAGS) -o $@ tests/unit/fuzz_table.c \
		$(addprefix fusefs/mem/,table.c record.c crc.c)

# what a target is started with besides its corpus
FUZZ_ctl := -max_len=4200 -dict=tests/unit/corpus/ctl.dict
FUZZ_table := -max_len=4096

.PHONY: fuzz fuzz-ctl fuzz-table
## fuzz         libFuzzer on the ctl grammar and on the table of mem/, for
##              FUZZ_SECONDS (5) each
fuzz: fuzz-ctl fuzz-table
# what it finds to be new goes to build/, never into the corpus
fuzz-ctl fuzz-table: fuzz-%: $(B)/fuzz_%
	@mkdir -p $(B)/fuzz_$*.new
	$(B)/fuzz_$* -max_total_time=$(FUZZ_SECONDS) $(FUZZ_$*) \
		-artifact_prefix=$(B)/fuzz_$*. -print_final_stats=1 -verbosity=0 \
		$(B)/fuzz_$*.new tests/unit/corpus/$*

.PHONY: deps
## deps         install what building and testing needs (apt; asks for root)
deps:
	mount-helpers/install-deps build test

.PHONY: all-deps
all-deps:
	mount-helpers/install-deps build test more deb

.PHONY: build-deps
build-deps:
	mount-helpers/install-deps build

DEMO_DIR ?= /mnt/k80
.PHONY: demo demo-stop
## demo         mount six simulated dies at /mnt/k80 and show a round trip
demo: build-deps
	$(MAKE) -s all
	@tests/demo.sh start "$(DEMO_DIR)"
## demo-stop    unmount them
demo-stop:
	@tests/demo.sh stop "$(DEMO_DIR)"

.PHONY: check check-all check-long check-unit check-mount check-vm lint
## check        install what is needed, build, run the tests: some minutes
check: deps
	@tests/check.sh check
## check-all    all other tests: other compilers, sanitizers, both guest kernels
check-all: all-deps
	$(MAKE) -s all tests
	@tests/check.sh all
## check-long   soaks and whole matrices, and make check in other systems: hours
check-long: all-deps
	$(MAKE) -s all tests
	@tests/check.sh long
## check-unit   the unit tests and the library's
check-unit: deps
	@tests/check.sh build unit library
## check-mount  the mounted tree on simulator and stand-in (needs /dev/fuse)
check-mount: deps
	@tests/check.sh build mount mount-alone mount-cuda
## check-vm     the kernel module in a PC with three emulated cards
check-vm: deps
	@tests/check.sh build vm-check vm-all
## lint         layers, formats, shell scripts, manual pages
lint:
	@tests/check.sh lint

.PHONY: check-hw
## check-hw     on a machine with cards: step by step, asks, writes a report
check-hw: all
	tests/hw/run.sh $(HW)

.PHONY: bench bench-copy bench-slot
## bench        measure against peers on this machine, into build/bench/
bench: deps
	$(MAKE) -s all
	tests/bench/run.sh
## bench-copy   every copy routine on ordinary memory; DEV=... on a BAR
bench-copy: build-deps
	$(MAKE) -s all
	tests/bench/run.sh copy $(DEV)
## bench-slot   the slot policy on a simulated clock
bench-slot: build-deps
	tests/bench/run.sh slot

.PHONY: pictures
## pictures     draw the README's again, from a real run (asks for root)
pictures: all
	tests/pictures/session.sh | tests/pictures/terminal.py \
		'six simulated dies, one of them in the slot at a time' \
		> tests/pictures/session.svg
	tests/pictures/timeline.sh > $(B)/timeline.json
	tests/pictures/timeline.py 'six dd read six simulated dies' \
		< $(B)/timeline.json > tests/pictures/timeline.svg

INSTALL ?= install
.PHONY: install uninstall
## install      to $(DESTDIR)$(prefix); the module: see kmod/
install: all
	$(INSTALL) -D -m 755 $(B)/k80fs "$(DESTDIR)$(bindir)/k80fs"
	$(INSTALL) -D -m 755 $(B)/k80-owner "$(DESTDIR)$(bindir)/k80-owner"
	$(INSTALL) -D -m 755 $(B)/k80-top "$(DESTDIR)$(bindir)/k80-top"
	$(INSTALL) -D -m 755 $(B)/k80-worker "$(DESTDIR)$(libexecdir)/k80-worker"
	$(INSTALL) -D -m 755 $(B)/k80-keeper "$(DESTDIR)$(sbindir)/k80-keeper"
	$(INSTALL) -D -m 755 mount-helpers/k80-doctor "$(DESTDIR)$(sbindir)/k80-doctor"
	$(INSTALL) -d "$(DESTDIR)$(prefix)/share/k80fs/doctor"
	$(INSTALL) -m 644 $(DOCTOR) "$(DESTDIR)$(prefix)/share/k80fs/doctor"
	$(INSTALL) -D -m 755 mount-helpers/mount.k80fs "$(DESTDIR)$(helperdir)/mount.k80fs"
	$(INSTALL) -D -m 755 mount-helpers/umount.k80fs "$(DESTDIR)$(helperdir)/umount.k80fs"
	ln -sf mount.k80fs "$(DESTDIR)$(helperdir)/mount.fuse.k80fs"
	ln -sf umount.k80fs "$(DESTDIR)$(helperdir)/umount.fuse.k80fs"
	$(INSTALL) -D -m 644 fusefs/lib/barswap.h "$(DESTDIR)$(includedir)/barswap.h"
	$(INSTALL) -D -m 644 kmod/uapi/bar_swap.h "$(DESTDIR)$(includedir)/bar_swap.h"
	$(INSTALL) -D -m 644 $(B)/libbarswap.a "$(DESTDIR)$(libdir)/libbarswap.a"
	$(INSTALL) -D -m 755 $(B)/$(SONAME).0 "$(DESTDIR)$(libdir)/$(SONAME).0"
	ln -sf $(SONAME).0 "$(DESTDIR)$(libdir)/$(SONAME)"
	ln -sf $(SONAME).0 "$(DESTDIR)$(libdir)/libbarswap.so"
	$(INSTALL) -D -m 644 $(B)/barswap.pc "$(DESTDIR)$(libdir)/pkgconfig/barswap.pc"
	$(INSTALL) -D -m 644 fusefs/k80mem/k80mem.h "$(DESTDIR)$(includedir)/k80mem.h"
	$(INSTALL) -D -m 644 $(B)/libk80mem.a "$(DESTDIR)$(libdir)/libk80mem.a"
	$(INSTALL) -D -m 755 $(B)/$(K80MEM_SONAME).0 "$(DESTDIR)$(libdir)/$(K80MEM_SONAME).0"
	ln -sf $(K80MEM_SONAME).0 "$(DESTDIR)$(libdir)/$(K80MEM_SONAME)"
	ln -sf $(K80MEM_SONAME).0 "$(DESTDIR)$(libdir)/libk80mem.so"
	$(INSTALL) -D -m 644 $(B)/k80mem.pc "$(DESTDIR)$(libdir)/pkgconfig/k80mem.pc"
	$(INSTALL) -D -m 644 mount-helpers/python/k80fs.py "$(DESTDIR)$(pythondir)/k80fs.py"
	$(INSTALL) -D -m 644 mount-helpers/k80fs.service "$(DESTDIR)$(unitdir)/k80fs.service"
	$(INSTALL) -D -m 644 mount-helpers/k80-keeper.service "$(DESTDIR)$(unitdir)/k80-keeper.service"
	$(INSTALL) -D -m 644 mount-helpers/completion.bash "$(DESTDIR)$(completiondir)/k80fs"
	for name in $(COMPLETED); do \
		ln -sf k80fs "$(DESTDIR)$(completiondir)/$$name"; \
	done
	$(INSTALL) -D -m 644 mount-helpers/k80-nbd.socket "$(DESTDIR)$(unitdir)/k80-nbd.socket"
	$(INSTALL) -D -m 644 mount-helpers/k80-nbd.service "$(DESTDIR)$(unitdir)/k80-nbd.service"
	$(INSTALL) -D -m 644 mount-helpers/60-bar-swap.rules "$(DESTDIR)$(udevdir)/60-bar-swap.rules"
	$(INSTALL) -D -m 644 mount-helpers/bar_swap.conf "$(DESTDIR)$(prefix)/share/k80fs/bar_swap.conf"
	$(INSTALL) -D -m 644 mount-helpers/k80fs-compute.conf "$(DESTDIR)$(prefix)/share/k80fs/k80fs-compute.conf"
	$(INSTALL) -D -m 755 mount-helpers/slurm/k80-slurm "$(DESTDIR)$(slurmdir)/k80-slurm"
	for name in $(SLURM_LINKS); do \
		ln -sf k80-slurm "$(DESTDIR)$(slurmdir)/$$name"; \
	done
	$(INSTALL) -d $(foreach n,3 4 8,"$(DESTDIR)$(mandir)/man$(n)")
	$(INSTALL) -m 644 $(MAN3) "$(DESTDIR)$(mandir)/man3"
	$(INSTALL) -m 644 $(MAN4) "$(DESTDIR)$(mandir)/man4"
	$(INSTALL) -m 644 $(MAN8) "$(DESTDIR)$(mandir)/man8"
	[ -n "$(DESTDIR)" ] || ldconfig
## uninstall    remove what install put there
uninstall:
	for f in $(bindir)/k80fs $(bindir)/k80-owner $(bindir)/k80-top \
		$(libexecdir)/k80-worker $(sbindir)/k80-keeper \
		$(sbindir)/k80-doctor $(unitdir)/k80-keeper.service \
		$(addprefix $(prefix)/share/k80fs/doctor/,$(notdir $(DOCTOR))) \
		$(helperdir)/mount.k80fs $(helperdir)/umount.k80fs \
		$(helperdir)/mount.fuse.k80fs $(helperdir)/umount.fuse.k80fs \
		$(includedir)/barswap.h $(includedir)/bar_swap.h \
		$(libdir)/libbarswap.a \
		$(libdir)/$(SONAME).0 $(libdir)/$(SONAME) $(libdir)/libbarswap.so \
		$(includedir)/k80mem.h $(libdir)/libk80mem.a \
		$(libdir)/$(K80MEM_SONAME).0 $(libdir)/$(K80MEM_SONAME) \
		$(libdir)/libk80mem.so $(libdir)/pkgconfig/k80mem.pc \
		$(pythondir)/k80fs.py \
		$(libdir)/pkgconfig/barswap.pc $(unitdir)/k80fs.service \
		$(addprefix $(completiondir)/,k80fs $(COMPLETED)) \
		$(unitdir)/k80-nbd.socket $(unitdir)/k80-nbd.service \
		$(udevdir)/60-bar-swap.rules $(prefix)/share/k80fs/bar_swap.conf \
		$(prefix)/share/k80fs/k80fs-compute.conf \
		$(addprefix $(slurmdir)/,k80-slurm $(SLURM_LINKS)) \
		$(addprefix $(mandir)/man3/,$(notdir $(MAN3))) \
		$(addprefix $(mandir)/man4/,$(notdir $(MAN4))) \
		$(addprefix $(mandir)/man8/,$(notdir $(MAN8))); do \
		rm -f "$(DESTDIR)$$f" || exit 1; \
	done
	rmdir "$(DESTDIR)$(prefix)/share/k80fs/doctor" "$(DESTDIR)$(slurmdir)" \
		"$(DESTDIR)$(prefix)/share/k80fs" "$(DESTDIR)$(libexecdir)" \
		2>/dev/null || :

.PHONY: deb
## deb          Debian packages of this tree, into build/deb
deb:
	mount-helpers/install-deps deb
	mount-helpers/debian/build.sh $(VERSION)

.PHONY: clean
## clean        remove what was built
clean:
	rm -rf build build-*

-include $(shell find $(B) -name '*.d' 2>/dev/null)
