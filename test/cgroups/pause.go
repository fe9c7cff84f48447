package main

import (
	"bytes"
	"encoding/binary"
	"os"
)

// pause is a program with a single thread that only waits, as that of a sandbox. A Go program
// has several threads.
const pause = "/pause"

// writePause writes the program: an ELF file whose code calls pause(2) forever.
func writePause() error {
	code := []byte{0xb8, 34, 0, 0, 0 /* mov eax, SYS_pause */, 0x0f, 0x05 /* syscall */, 0xeb, 0xf7 /* jmp to the begin */}
	const base, headers = 0x400000, 64 + 56
	var b bytes.Buffer
	for _, field := range []any{
		[]byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00"), // 64 bits, little endian.
		uint16(2), uint16(62), uint32(1), uint64(base + headers), // A program for x86-64, and where it begins.
		uint64(64), uint64(0), uint32(0), uint16(64), uint16(56), uint16(1), uint16(0), uint16(0), uint16(0),
		// One segment, with the whole file.
		uint32(1), uint32(5), uint64(0), uint64(base), uint64(base), uint64(headers + len(code)), uint64(headers + len(code)), uint64(0x1000),
		code,
	} {
		if err := binary.Write(&b, binary.LittleEndian, field); err != nil {
			return err
		}
	}
	return os.WriteFile(pause, b.Bytes(), 0o755)
}
