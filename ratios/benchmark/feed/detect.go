package feed

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
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
			columns, _ := header(names, nil)
			_, size := columns[column(columnSize)]
			_, score := columns[column(columnScore)]
			return CloudCSV, size && score
		}
	}
	line, _, _ := bytes.Cut(head, []byte("\n"))
	names, _ := csv.NewReader(bytes.NewReader(line)).Read()
	columns, _ := header(names, nil)
	has := func(name string) bool { _, found := columns[column(name)]; return found }
	switch {
	case has("benchmark_id"):
		return SpareCores, true
	case has(columnSize) && has(columnScore):
		return CloudCSV, true
	}
	return "", false
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
// compressed content is damaged, or there is no text. whole means that head is all of it.
func CheckText(head []byte, whole bool) error {
	text, err := decompressed(bytes.NewReader(head))
	if err != nil || !whole {
		return err
	}
	start, err := io.ReadAll(io.LimitReader(text, bufferSize))
	if err == nil && len(bytes.TrimSpace(start)) == 0 {
		err = errors.New("it is empty: use a file with measurements")
	}
	return err
}
