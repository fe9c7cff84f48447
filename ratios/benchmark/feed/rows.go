package feed

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"
)

// maxRow is the maximum length of a row in bytes. A longer row is a fault and does not stay in
// memory.
const maxRow = 1 << 20

var (
	errTooLong = Fault{Reason: fmt.Sprintf("is longer than %d bytes", maxRow)}
	errNotText = Fault{Reason: "is not UTF-8 text: save it as UTF-8"}
)

// rawRow is one row as it is written, or its fault.
type rawRow struct {
	line  int
	text  []byte // until the next row is read
	fault *Fault
}

func newRawRow(line int, text []byte, tooLong bool) rawRow {
	switch {
	case tooLong:
		return rawRow{line: line, fault: &errTooLong}
	case !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0:
		return rawRow{line: line, fault: &errNotText}
	}
	return rawRow{line: line, text: text}
}

// lines calls take with each line that is not empty, without white space around it, except for tabs:
// they may separate empty columns. It stops at the first error of the reader or of take.
func lines(in *bufio.Reader, take func(rawRow) error) error {
	var line int
	var text []byte
	for {
		text = text[:0]
		tooLong := false
		var err error
		for more := true; more; more = errors.Is(err, bufio.ErrBufferFull) {
			var part []byte
			part, err = in.ReadSlice('\n')
			if tooLong = tooLong || len(text)+len(part) > maxRow; !tooLong {
				text = append(text, part...)
			}
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read the feed: %w", err)
		}
		line++
		if tooLong || len(bytes.TrimSpace(text)) > 0 {
			if err := take(newRawRow(line, bytes.TrimFunc(text, isSpaceInLine), tooLong)); err != nil {
				return err
			}
		}
		if err != nil {
			return nil
		}
	}
}

func isSpaceInLine(r rune) bool { return r != '\t' && unicode.IsSpace(r) }
