package feed

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"
)

// headSize is how much of a feed is used to detect its format.
const headSize = 4096

// Detect detects the format from the start of the content, which may be compressed; false if no
// format matches. A few hundred bytes of text are enough: the first row of JSON, which may be
// truncated, or the header of CSV.
func Detect(head []byte) (Format, bool) {
	if text, err := decompressed(bytes.NewReader(head)); err == nil {
		// The end of compressed content is missing, but not that of its beginning.
		head, _ = text.Peek(headSize)
	}
	head = bytes.TrimSpace(head)
	row, isArray := bytes.CutPrefix(head, []byte("["))
	switch has := keys(row); {
	case has["benchmark_id"]:
		return SpareCores, true
	case has["metric"] && !isArray:
		return PerfKit, true
	case has["benchmark"] && !isArray:
		return Samples, true
	case has["multicore_score"] || has["sections"]:
		return Geekbench, true
	case has["systems"] && has["results"] || has["title"] && has["systems"]:
		return Phoronix, true
	case isDump(head):
		return SpareCores, true
	}
	for line := range bytes.Lines(head) {
		if names := markdownRow(bytes.TrimSpace(line)); names != nil {
			return CloudCSV, len(missing(names, cloudColumns)) == 0
		}
	}
	for _, csv := range []struct {
		format Format
		needed []string
	}{{SpareCores, []string{"benchmark_id"}}, {CloudCSV, cloudColumns}} {
		if len(missing(csvHeader(head, csv.needed), csv.needed)) == 0 {
			return csv.format, true
		}
	}
	return "", false
}

// csvHeader returns the names of the columns of CSV, which text begins with.
func csvHeader(text []byte, needed []string) []string {
	rows := newCSVLines()
	for line := range bytes.Lines(text) {
		if names, fault := rows.header(bytes.Clone(bytes.TrimRight(line, "\r\n")), needed); names != nil || fault != nil {
			return names
		}
	}
	return nil
}

// keys returns the keys of the JSON object that text begins with, which may be truncated; none
// if it is not an object.
func keys(text []byte) map[string]bool {
	found := map[string]bool{}
	if !bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		return found
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	depth, isKey := 0, false
	for {
		token, err := decoder.Token()
		if err != nil {
			return found
		}
		switch token := token.(type) {
		case json.Delim:
			if token == '{' || token == '[' {
				depth++
			} else {
				depth--
			}
			isKey = depth == 1 // At the start of the object, and after a nested value.
		case string:
			if isKey {
				found[token] = true
			}
			isKey = depth == 1 && !isKey
		default:
			isKey = depth == 1
		}
		if depth == 0 {
			return found
		}
	}
}

// CheckText returns why no format matches the start of the content, if that is not due to its text:
// compressed content is damaged, it is not text, or there is none. whole means that head is all of it.
func CheckText(head []byte, whole bool) error {
	text, err := decompressed(bytes.NewReader(head))
	if err != nil {
		return err
	}
	start, err := io.ReadAll(io.LimitReader(text, bufferSize))
	switch {
	case !isText(start):
		return errors.New("it " + errNotText.Reason)
	case !whole:
		return nil
	case err == nil && len(bytes.TrimSpace(start)) == 0:
		return errors.New("it is empty: use a file with measurements")
	}
	return err
}

// isText reports whether the start of content is UTF-8 text. Its last character may be incomplete.
func isText(start []byte) bool {
	for i := len(start) - 1; i >= max(0, len(start)-utf8.UTFMax); i-- {
		if utf8.RuneStart(start[i]) {
			if !utf8.FullRune(start[i:]) {
				start = start[:i]
			}
			break
		}
	}
	return utf8.Valid(start) && bytes.IndexByte(start, 0) < 0
}
