package feed

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// separators are what the columns of CSV may be separated by, the usual one first. Excel separates them
// with semicolons where numbers have decimal commas, and with tabs in "Unicode text".
const separators = ",;\t"

// csvLines splits lines of CSV into values.
type csvLines struct {
	line *bytes.Reader
	// reader reads the lines one by one.
	reader *csv.Reader
	// directed means that the first line named the separator.
	directed bool
}

func newCSVLines() *csvLines {
	l := &csvLines{line: &bytes.Reader{}}
	l.reader = csv.NewReader(l.line)
	l.reader.FieldsPerRecord = -1 // rowsOf checks it, for a fault with the line.
	l.reader.ReuseRecord = true
	l.separateAt(',')
	return l
}

func (l *csvLines) separateAt(separator rune) {
	l.reader.Comma = separator
	// The reader trims tabs even if they are separators.
	l.reader.TrimLeadingSpace = separator != '\t'
}

// split returns the values of a line, which it changes. They are valid until the next line.
func (l *csvLines) split(line []byte) ([]string, *Fault) {
	if l.reader.Comma != '\t' {
		line = bytes.TrimSpace(line)
	}
	l.line.Reset(append(line, '\n'))
	values, err := l.reader.Read()
	if err != nil {
		if wrong, ok := errors.AsType[*csv.ParseError](err); ok {
			err = wrong.Err // Drop its line number, which is not the line in the feed.
		}
		return nil, &Fault{Reason: "is not CSV: " + err.Error()}
	}
	return values, nil
}

// header returns the names of columns; nil if the line is not the header, but names the separator. If
// none does, the separator is the one that finds most of the needed columns.
func (l *csvLines) header(line []byte, needed []string) ([]string, *Fault) {
	if l.directed {
		return l.split(line)
	}
	if is, fault := l.directive(line); is {
		return nil, fault
	}
	best, least := ',', len(needed)
	for _, separator := range separators {
		l.separateAt(separator)
		names, _ := l.split(bytes.Clone(line))
		if n := len(missing(names, needed)); n < least {
			best, least = separator, n
		}
	}
	l.separateAt(best)
	return l.split(line)
}

// directive reports whether a line tells Excel the separator, such as sep=; and obeys it.
func (l *csvLines) directive(line []byte) (is bool, fault *Fault) {
	const begin = "sep="
	text := strings.Trim(string(line), `"`)
	if len(text) < len(begin) || !strings.EqualFold(text[:len(begin)], begin) {
		return false, nil
	}
	separator, size := utf8.DecodeRuneInString(text[len(begin):])
	if len(begin)+size != len(text) || !strings.ContainsRune(separators, separator) {
		return true, &Fault{Reason: fmt.Sprintf("has columns that are separated by %q: separate the columns with commas", text[len(begin):])}
	}
	l.separateAt(separator)
	l.directed = true
	return true, nil
}
