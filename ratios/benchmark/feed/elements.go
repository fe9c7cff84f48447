package feed

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// elements calls take with each element of a JSON array. It only finds where elements begin and
// end, so that a fault within one does not affect the others. If the end of the array is
// missing, the feed is truncated, which is an error.
func elements(in *bufio.Reader, take func(rawRow) error) error {
	s := &splitter{in: in, line: 1}
	b, err := s.skip(0)
	if err != nil || b != '[' {
		return s.explain(err, "does not begin with [")
	}
	for {
		b, err := s.skip(',')
		if err != nil {
			return s.explain(err, "")
		}
		if b == ']' {
			break
		}
		begin := s.line
		if err := s.element(b); err != nil {
			return s.explain(err, "")
		}
		if err := take(newRawRow(begin, s.text, s.tooLong)); err != nil {
			return err
		}
	}
	if _, err := s.skip(0); !errors.Is(err, io.EOF) {
		return s.explain(err, "is followed by more content")
	}
	return nil
}

// splitter reads a JSON array byte by byte.
type splitter struct {
	in      *bufio.Reader
	line    int
	text    []byte
	tooLong bool
}

func (s *splitter) explain(err error, otherwise string) error {
	switch {
	case errors.Is(err, io.EOF):
		return fmt.Errorf("line %d: the array is not closed: the feed is truncated, or a quote or bracket is missing", s.line)
	case err != nil:
		return fmt.Errorf("read the feed: %w", err)
	}
	return fmt.Errorf("line %d: the array %s", s.line, otherwise)
}

func (s *splitter) next() (byte, error) {
	b, err := s.in.ReadByte()
	if b == '\n' {
		s.line++
	}
	return b, err
}

// skip returns the first byte that is neither white space nor the separator.
func (s *splitter) skip(separator byte) (byte, error) {
	for {
		b, err := s.next()
		if err != nil {
			return 0, err
		}
		if b != ' ' && b != '\t' && b != '\r' && b != '\n' && b != separator {
			return b, nil
		}
	}
}

// element reads one element into text. b is its first byte.
func (s *splitter) element(b byte) error {
	s.text, s.tooLong = s.text[:0], false
	depth, quoted, escaped := 0, false, false
	for {
		switch {
		case escaped:
			escaped = false
		case quoted:
			escaped, quoted = b == '\\', b != '"'
		case b == '"':
			quoted = true
		case b == '{' || b == '[':
			depth++
		case (b == '}' || b == ']') && depth > 0:
			depth--
		}
		if s.tooLong = s.tooLong || len(s.text) == maxRow; !s.tooLong {
			s.text = append(s.text, b)
		}
		if !quoted && depth == 0 {
			// The byte after a value that is not an object stays unread.
			if peek, err := s.in.Peek(1); b == '}' || err != nil || peek[0] == ',' || peek[0] == ']' || peek[0] == '\n' {
				return nil
			}
		}
		var err error
		if b, err = s.next(); err != nil {
			return err
		}
	}
}
