package feed

import (
	"bufio"
	"bytes"

	"golang.org/x/text/encoding/unicode"
)

// The marks with which some programs begin text, such as Excel and PowerShell.
var (
	markUTF8  = []byte("\uFEFF")
	markUTF16 = map[string]unicode.Endianness{"\xff\xfe": unicode.LittleEndian, "\xfe\xff": unicode.BigEndian}
)

// asUTF8 returns text in UTF-8 without a byte order mark. Text in UTF-16 must have one.
func asUTF8(in *bufio.Reader) *bufio.Reader {
	if head, _ := in.Peek(len(markUTF8)); bytes.Equal(head, markUTF8) {
		_, _ = in.Discard(len(markUTF8)) // The bytes are buffered.
		return in
	}
	head, _ := in.Peek(2)
	if order, ok := markUTF16[string(head)]; ok {
		return bufio.NewReaderSize(unicode.UTF16(order, unicode.ExpectBOM).NewDecoder().Reader(in), bufferSize)
	}
	return in
}
