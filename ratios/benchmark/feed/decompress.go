package feed

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/ulikunitz/xz"
	"github.com/ulikunitz/xz/lzma"
	"golang.org/x/text/encoding/unicode"
)

const (
	// maxText is the maximum size of a feed after decompression. Spare Cores' whole dump,
	// most of which is prices, is smaller.
	maxText = 4 << 30
)

var (
	gzipMagic   = []byte{0x1f, 0x8b}
	xzMagic     = []byte{0xfd, '7', 'z', 'X', 'Z', 0}
	sqliteMagic = []byte("SQLite format 3\x00")
)

// decompressed returns the text of a feed in UTF-8. It may be compressed with gzip or xz, and a server
// may compress it again to send it.
func decompressed(r io.Reader) (*bufio.Reader, error) {
	in := bufio.NewReaderSize(r, bufferSize)
	for range 2 {
		text, err := decompress(in)
		if err != nil {
			return nil, fmt.Errorf("decompress the feed: %w", truncated(err))
		}
		if text == nil {
			break
		}
		in = bufio.NewReaderSize(&limited{text, maxText}, bufferSize)
	}
	if head, _ := in.Peek(len(sqliteMagic)); bytes.Equal(head, sqliteMagic) {
		return nil, errors.New("the feed is a SQLite database: use its dump as SQL")
	}
	return asUTF8(in), nil
}

const bufferSize = 64 << 10

// decompress returns the text of compressed content; nil if it is not compressed.
func decompress(in *bufio.Reader) (io.Reader, error) {
	head, _ := in.Peek(64)
	switch {
	case bytes.HasPrefix(head, gzipMagic):
		return gzip.NewReader(in)
	case bytes.HasPrefix(head, xzMagic):
		// A block takes what its header asks for, and not 8 MiB by default.
		return xz.ReaderConfig{DictCap: lzma.MinDictCap}.NewReader(&xzHeaders{in: in})
	}
	return nil, nil
}

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

// truncated returns an error that says so if compressed content ends early.
func truncated(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the compressed content is truncated: %w: use a complete copy", err)
	}
	return err
}

// limited fails if there is more text than is left.
type limited struct {
	text io.Reader
	left int64
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.text.Read(p)
	err = truncated(err)
	if l.left -= int64(n); l.left < 0 {
		return 0, fmt.Errorf("the feed is larger than %d bytes after decompression", int64(maxText))
	}
	return n, err
}
