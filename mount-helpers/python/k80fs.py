# SPDX-License-Identifier: GPL-2.0-or-later
"""The files of k80fs as GPU memory: arrays and tensors on their bytes, no copy.

    import k80fs, torch
    with k80fs.map("/mnt/gpu/die0/mem/x") as m:
        t = torch.as_tensor(m, device="cuda")   # uint8, the file's own bytes
        del t                                   # before the mapping ends
    weights = k80fs.safetensors("/mnt/gpu/die0/mem/llama.safetensors")
    model.load_state_dict(weights, assign=True)
    k80fs.save("/mnt/gpu/die0/mem/shard0", {"w": tensor}, {"rank": "0"})

Whatever has the interface __cuda_array_interface__ works with it: torch, CuPy,
Numba. The files are those of a folder dieN/mem; they have to be writable, and
what is mapped without write=True a kernel must not write to: that is a bad
address, which costs the whole process its CUDA context.

Needs libk80mem (the environment variable K80FS_LIBK80MEM names another file)
and the vendor's libcuda; see libk80mem(3).
"""
import contextlib
import ctypes
import errno
import json
import os
import sys
import weakref

__all__ = ["Error", "HeaderError", "Map", "View", "Weights", "map",
           "safetensors", "save"]

_WRITE = 1              # K80_MAP_WRITE
_MAX_HEADER = 100_000_000   # bytes, as safetensors has it
_MAX_COUNT = (1 << 63) - 1
_ALIGN = 256            # of the data that save() writes: what libraries like

# dtype of a file: bytes of an element, name in torch, typestr of others
_DTYPES = {
    "BOOL": (1, "bool", "|b1"),
    "U8": (1, "uint8", "|u1"),
    "I8": (1, "int8", "|i1"),
    "F8_E4M3": (1, "float8_e4m3fn", None),
    "F8_E5M2": (1, "float8_e5m2", None),
    "F8_E8M0": (1, "float8_e8m0fnu", None),
    "U16": (2, "uint16", "<u2"),
    "I16": (2, "int16", "<i2"),
    "F16": (2, "float16", "<f2"),
    "BF16": (2, "bfloat16", None),
    "U32": (4, "uint32", "<u4"),
    "I32": (4, "int32", "<i4"),
    "F32": (4, "float32", "<f4"),
    "U64": (8, "uint64", "<u8"),
    "I64": (8, "int64", "<i8"),
    "F64": (8, "float64", "<f8"),
    "C64": (8, "complex64", "<c8"),
}


class Error(OSError):
    """k80fs or the driver refused; errno and a line that says why"""


class HeaderError(ValueError):
    """not a safetensors file, or one whose header is not right"""


# ---- the two libraries -------------------------------------------------------

class _Libraries:
    """libk80mem and libcuda, opened when they are needed first"""

    def __init__(self):
        path = os.environ.get("K80FS_LIBK80MEM", "libk80mem.so.1")
        try:
            self.mem = ctypes.CDLL(path)
            self.cuda = ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            raise Error(errno.ENOENT, str(error)) from None
        ptr, size = ctypes.c_uint64, ctypes.c_size_t
        handle = ctypes.c_void_p
        self._declare(self.mem, None, {
            "k80_map_fd": [ctypes.c_int, ctypes.c_uint, ctypes.POINTER(handle)],
            "k80_device": [ctypes.c_int, ctypes.POINTER(ctypes.c_int)],
        })
        self._declare(self.mem, ptr, {"k80_map_ptr": [handle]})
        self._declare(self.mem, size, {"k80_map_len": [handle]})
        self._declare(self.mem, ctypes.c_char_p, {"k80_error": []})
        self.mem.k80_unmap.argtypes = [handle]
        self.mem.k80_unmap.restype = None
        self._declare(self.cuda, None, {
            "cuInit": [ctypes.c_uint],
            "cuGetErrorName": [ctypes.c_int, ctypes.POINTER(ctypes.c_char_p)],
            "cuCtxGetCurrent": [ctypes.POINTER(handle)],
            "cuCtxSetCurrent": [handle],
            "cuCtxSynchronize": [],
            "cuDevicePrimaryCtxRetain": [ctypes.POINTER(handle), ctypes.c_int],
            "cuDevicePrimaryCtxRelease_v2": [ctypes.c_int],
            "cuMemAlloc_v2": [ctypes.POINTER(ptr), size],
            "cuMemFree_v2": [ptr],
            "cuMemcpyDtoD_v2": [ptr, ptr, size],
        })
        self.call("cuInit", 0)

    @staticmethod
    def _declare(library, result, functions):
        for name, args in functions.items():
            function = getattr(library, name)
            function.argtypes = args
            function.restype = result or ctypes.c_int

    def call(self, name, *args):
        """a call of libcuda"""
        code = getattr(self.cuda, name)(*args)
        if not code:
            return
        text = ctypes.c_char_p()
        self.cuda.cuGetErrorName(code, ctypes.byref(text))
        what = text.value.decode() if text.value else f"CUDA error {code}"
        raise Error(errno.ENOMEM if code == 2 else errno.EIO,
                    f"{name}: {what}")

    def ask(self, path, name, *args):
        """a call of libk80mem about a file"""
        code = getattr(self.mem, name)(*args)
        if code:
            raise Error(-code, self.mem.k80_error().decode(), path)


_libraries = None


def _lib():
    global _libraries
    if _libraries is None:
        _libraries = _Libraries()
    return _libraries


@contextlib.contextmanager
def _context(device):
    """the device's primary context, which torch works in too, is current"""
    lib = _lib()
    ctx, before = ctypes.c_void_p(), ctypes.c_void_p()
    lib.call("cuDevicePrimaryCtxRetain", ctypes.byref(ctx), device)
    try:
        lib.call("cuCtxGetCurrent", ctypes.byref(before))
        lib.call("cuCtxSetCurrent", ctx)
        try:
            yield lib
        finally:
            lib.call("cuCtxSetCurrent", before)
    finally:
        lib.call("cuDevicePrimaryCtxRelease_v2", device)


def _retain(device):
    """keep the primary context for as long as something of it is in use"""
    _lib().call("cuDevicePrimaryCtxRetain", ctypes.byref(ctypes.c_void_p()),
                device)


def _release(device):
    _lib().call("cuDevicePrimaryCtxRelease_v2", device)


# ---- memory ------------------------------------------------------------------

class _Memory:
    """device memory with an address, and bytes that are used as an array"""

    ptr = 0
    nbytes = 0
    device = 0

    def _interface(self):
        return {
            "version": 3,
            "shape": (self.nbytes,),
            "typestr": "|u1",
            "data": (self.ptr, False),
            "strides": None,
            "stream": None,
        }


def _unmap(handle, device):
    """what runs on the memory ends first"""
    try:
        with _context(device) as lib:
            try:
                lib.call("cuCtxSynchronize")
            finally:
                lib.mem.k80_unmap(handle)
    finally:
        _release(device)


class Map(_Memory):
    """A file's memory: ptr, nbytes, device, and __cuda_array_interface__.

    It is as long as the file is now, and keeps this memory whatever becomes of
    the file. It ends with close(), at the end of a with block, or when nobody
    has it any more; nobody may use an array on it that lives longer.
    """

    def __init__(self, path, write=False):
        self.path = os.fspath(path)
        fd = os.open(self.path, os.O_RDWR | os.O_CLOEXEC)
        try:
            self._open(fd, write)
        finally:
            os.close(fd)

    @classmethod
    def _of(cls, path, fd, write):
        made = cls.__new__(cls)
        made.path = os.fspath(path)
        made._open(fd, write)
        return made

    def _open(self, fd, write):
        lib = _lib()
        device, handle = ctypes.c_int(), ctypes.c_void_p()
        lib.ask(self.path, "k80_device", fd, ctypes.byref(device))
        self.device = device.value
        _retain(self.device)
        try:
            with _context(self.device):
                lib.ask(self.path, "k80_map_fd", fd, _WRITE if write else 0,
                        ctypes.byref(handle))
        except BaseException:
            _release(self.device)
            raise
        self.ptr = lib.mem.k80_map_ptr(handle)
        self.nbytes = lib.mem.k80_map_len(handle)
        self._end = weakref.finalize(self, _unmap, handle, self.device)
        # the process' end unmaps all, and a tensor may be in use until then
        self._end.atexit = False

    @property
    def __cuda_array_interface__(self):
        if not self._end.alive:
            raise ValueError("the mapping was closed")
        return self._interface()

    def close(self):
        """end the mapping, after what runs on it"""
        self._end()
        self.ptr = self.nbytes = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __len__(self):
        return self.nbytes


def map(path, write=False):  # pylint: disable=redefined-builtin
    """Map the memory of a file; write: kernels may write to it. See Map."""
    return Map(path, write)


def _free(ptr, device):
    try:
        with _context(device) as lib:
            lib.call("cuMemFree_v2", ptr)
    finally:
        _release(device)


class _Copy(_Memory):
    """bytes of other device memory at an address of their own"""

    def __init__(self, ptr, nbytes, device):
        self.nbytes, self.device = nbytes, device
        fresh = ctypes.c_uint64()
        _retain(device)
        try:
            with _context(device) as lib:
                lib.call("cuMemAlloc_v2", ctypes.byref(fresh), max(nbytes, 1))
                self._end = weakref.finalize(self, _free, fresh.value, device)
                self._end.atexit = False
                self.ptr = fresh.value
                if nbytes:
                    lib.call("cuMemcpyDtoD_v2", self.ptr, ptr, nbytes)
                    lib.call("cuCtxSynchronize")
        except BaseException:
            if not hasattr(self, "_end"):
                _release(device)
            raise


class View(_Memory):
    """A tensor of a file for programs without torch: its bytes as |u1, and

    dtype  its name in the file, such as BF16
    shape  of the tensor
    base   the memory that it is in, which lives as long as this
    """

    def __init__(self, base, ptr, nbytes, dtype, shape):
        self.base, self.ptr, self.nbytes = base, ptr, nbytes
        self.device, self.dtype, self.shape = base.device, dtype, shape

    @property
    def __cuda_array_interface__(self):
        return self._interface()


# ---- safetensors -------------------------------------------------------------

def _no_twins(pairs):
    made = dict(pairs)
    if len(made) != len(pairs):
        names = [name for name, _ in pairs]
        twin = next(n for n in names if names.count(n) > 1)
        raise HeaderError(f"{twin!r} is there twice")
    return made


def _no_constant(text):
    raise HeaderError(f"{text} is no number")


def _is_count(value):
    return type(value) is int and 0 <= value <= _MAX_COUNT


def _check_tensor(name, info):
    """(begin, end, dtype, shape) of an entry"""
    if not isinstance(info, dict):
        raise HeaderError(f"{name!r} is no object")
    dtype, shape = info.get("dtype"), info.get("shape")
    offsets = info.get("data_offsets")
    if not isinstance(dtype, str) or dtype not in _DTYPES:
        raise HeaderError(f"{name!r}: unknown dtype {dtype!r}")
    if not isinstance(shape, list) or not all(_is_count(n) for n in shape):
        raise HeaderError(f"{name!r}: bad shape")
    if not isinstance(offsets, list) or len(offsets) != 2 or \
            not all(_is_count(n) for n in offsets) or offsets[0] > offsets[1]:
        raise HeaderError(f"{name!r}: bad data_offsets")
    size = _DTYPES[dtype][0]
    for n in shape:
        size *= n
        if size > _MAX_COUNT:
            raise HeaderError(f"{name!r}: its shape is too large")
    if size != offsets[1] - offsets[0]:
        raise HeaderError(f"{name!r}: {offsets[1] - offsets[0]} bytes, its "
                          f"shape wants {size}")
    return offsets[0], offsets[1], dtype, tuple(shape)


def _check_metadata(metadata):
    if not isinstance(metadata, dict) or \
            not all(isinstance(v, str) for v in metadata.values()):
        raise HeaderError("__metadata__ is no object of strings")
    return metadata


def _check_ranges(tensors, room):
    """one behind the other, from the first byte of the data to the last"""
    at = 0
    for name, (begin, end, _, _) in sorted(tensors.items(),
                                           key=lambda item: item[1][:2]):
        if begin != at:
            what = "overlaps another tensor" if begin < at else \
                "leaves a hole before it"
            raise HeaderError(f"{name!r} {what}")
        at = end
    if at != room:
        raise HeaderError(f"the tensors end at byte {at} of {room}")


def _parse(text):
    if not text.startswith(b"{"):
        raise HeaderError("the header does not start with {")
    try:
        header = json.loads(text.decode(), object_pairs_hook=_no_twins,
                            parse_constant=_no_constant)
    except HeaderError:
        raise
    except (ValueError, RecursionError) as error:
        raise HeaderError(f"the header is no JSON: {error}") from None
    return header


def _read_header(fd, size):
    """({name: (begin, end, dtype, shape)}, metadata, where the data starts)"""
    first = os.pread(fd, 8, 0)
    if len(first) < 8 or size < 8:
        raise HeaderError("shorter than a header")
    n = int.from_bytes(first, "little")
    if n > _MAX_HEADER or n > size - 8:
        raise HeaderError(f"a header of {n} bytes in a file of {size}")
    text = b""
    while len(text) < n:
        more = os.pread(fd, n - len(text), 8 + len(text))
        if not more:
            raise HeaderError("the file became shorter")
        text += more
    header = _parse(text)
    metadata = _check_metadata(header.pop("__metadata__", {}))
    tensors = {name: _check_tensor(name, info)
               for name, info in header.items()}
    _check_ranges(tensors, size - 8 - n)
    return tensors, metadata, 8 + n


class Weights(dict):
    """The tensors of a file by name, on the file's own bytes.

    metadata      the file's
    copied        how many had to be copied, as their place does not suit their
                  item size; copied_bytes: what these take
    map           the mapping, which lives as long as it or a tensor does
    """

    def __init__(self, memory, metadata):
        super().__init__()
        self.map, self.metadata = memory, metadata
        self.copied = self.copied_bytes = 0


def _torch(wanted):
    if wanted is False:
        return None
    try:
        import torch  # pylint: disable=import-outside-toplevel
    except ImportError:
        if wanted:
            raise
        return None
    return torch


def _torch_dtype(torch, name, dtype):
    found = getattr(torch, _DTYPES[dtype][1], None)
    if found is None:
        raise HeaderError(f"{name!r}: this torch has no {_DTYPES[dtype][1]}")
    return found


def _as_tensors(weights, tensors, start, torch):
    torch.cuda.init()
    whole = torch.as_tensor(weights.map, device=f"cuda:{weights.map.device}")
    for name, (begin, end, dtype, shape) in tensors.items():
        part = whole[start + begin:start + end]
        if (weights.map.ptr + start + begin) % _DTYPES[dtype][0]:
            part = part.clone()
            weights.copied += 1
            weights.copied_bytes += end - begin
        kind = _torch_dtype(torch, name, dtype)
        weights[name] = part.view(kind).reshape(shape)


def _as_views(weights, tensors, start):
    for name, (begin, end, dtype, shape) in tensors.items():
        base, ptr, nbytes = weights.map, weights.map.ptr + start + begin, \
            end - begin
        if ptr % _DTYPES[dtype][0]:
            base = _Copy(ptr, nbytes, base.device)
            ptr = base.ptr
            weights.copied += 1
            weights.copied_bytes += nbytes
        weights[name] = View(base, ptr, nbytes, dtype, shape)


def safetensors(path, write=False, torch=None):
    """The tensors of a safetensors file, without a copy: Weights.

    write: they may be changed, and the file with them. torch: False: Views of
    bytes, also where torch is there; True: it must be. The header is checked;
    what is not right with it is a HeaderError.
    """
    path = os.fspath(path)
    module = _torch(torch)
    fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        memory = Map._of(path, fd, write)  # pylint: disable=protected-access
        try:
            tensors, metadata, start = _read_header(fd, memory.nbytes)
        except HeaderError as error:
            memory.close()
            raise HeaderError(f"{path}: {error}") from None
    finally:
        os.close(fd)
    weights = Weights(memory, metadata)
    if module:
        _as_tensors(weights, tensors, start, module)
    else:
        _as_views(weights, tensors, start)
    return weights


# ---- save --------------------------------------------------------------------

class _Source:
    """a tensor that is to be saved"""

    def __init__(self, name, tensor):
        self.keep = tensor  # its memory
        if hasattr(tensor, "data_ptr"):
            self._from_torch(name, tensor)
        elif isinstance(tensor, View):
            self.ptr, self.nbytes = tensor.ptr, tensor.nbytes
            self.dtype, self.shape = tensor.dtype, tuple(tensor.shape)
        elif hasattr(tensor, "__cuda_array_interface__"):
            self._from_interface(name, tensor.__cuda_array_interface__)
        else:
            raise TypeError(f"{name!r} is not in device memory")

    def _from_torch(self, name, tensor):
        if not tensor.is_cuda:
            raise TypeError(f"{name!r} is not in device memory")
        self.keep = tensor = tensor.detach().contiguous()
        wanted = str(tensor.dtype).rpartition(".")[2]
        self.dtype = next((d for d, (_, torch_name, _) in _DTYPES.items()
                           if torch_name == wanted), None)
        if self.dtype is None:
            raise TypeError(f"{name!r}: no dtype of a file for {tensor.dtype}")
        self.ptr = tensor.data_ptr()
        self.shape = tuple(tensor.shape)
        self.nbytes = tensor.numel() * tensor.element_size()

    def _from_interface(self, name, interface):
        self.shape = tuple(interface["shape"])
        self.ptr = interface["data"][0] or 0
        self.dtype = next((d for d, (_, _, text) in _DTYPES.items()
                           if text == interface["typestr"]), None)
        if self.dtype is None:
            raise TypeError(f"{name!r}: no dtype of a file for "
                            f"{interface['typestr']}")
        self.nbytes = size = _DTYPES[self.dtype][0]
        for n in self.shape:
            self.nbytes *= n
        strides = interface.get("strides")
        for n, stride in zip(reversed(self.shape), reversed(strides or ())):
            if stride != size and n > 1:
                raise TypeError(f"{name!r} is not contiguous")
            size *= n


def _header(sources, metadata):
    """(its bytes with their length, [(source, offset in the data)])"""
    header, places, at = {}, [], 0
    if metadata:
        header["__metadata__"] = _check_metadata(dict(metadata))
    # by falling item size each of them is aligned
    for name, source in sorted(sources.items(), key=lambda item: (
            -_DTYPES[item[1].dtype][0], item[0])):
        header[name] = {"dtype": source.dtype, "shape": list(source.shape),
                        "data_offsets": [at, at + source.nbytes]}
        places.append((source, at))
        at += source.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % _ALIGN)
    if len(text) > _MAX_HEADER:
        raise ValueError(f"a header of {len(text)} bytes")
    return len(text).to_bytes(8, "little") + text, places


def _write_all(fd, data):
    at = 0
    while at < len(data):
        at += os.pwrite(fd, data[at:], at)


def _fill(path, fd, head, places):
    size = len(head) + sum(source.nbytes for source, _ in places)
    os.ftruncate(fd, size)
    _write_all(fd, head)
    memory = Map._of(path, fd, True)  # pylint: disable=protected-access
    with memory, _context(memory.device) as lib:
        # whoever computes them has finished
        lib.call("cuCtxSynchronize")
        for source, at in places:
            if source.nbytes:
                lib.call("cuMemcpyDtoD_v2", memory.ptr + len(head) + at,
                         source.ptr, source.nbytes)
        lib.call("cuCtxSynchronize")
    os.fsync(fd)


def save(path, tensors, metadata=None):
    """Write device tensors to a safetensors file by copies on the device.

    tensors: of torch, Views, or whatever has __cuda_array_interface__, by name.
    metadata: strings by name. The data start at a multiple of 256 bytes. The
    file takes the place of one that was there when it is complete; who has
    mapped that one keeps it.
    """
    path = os.fspath(path)
    sources = {name: _Source(name, t) for name, t in tensors.items()}
    if "__metadata__" in sources:
        raise ValueError("no tensor can be named __metadata__")
    head, places = _header(sources, metadata)
    fresh = os.path.join(os.path.dirname(path),
                         f".k80fs-{os.getpid()}-{os.urandom(4).hex()}")
    fd = os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC,
                 0o666)
    try:
        try:
            _fill(fresh, fd, head, places)
        finally:
            os.close(fd)
        os.replace(fresh, path)
    except BaseException:
        os.unlink(fresh)
        raise


if __name__ == "__main__":
    print(__doc__, file=sys.stderr)
    sys.exit(2)
