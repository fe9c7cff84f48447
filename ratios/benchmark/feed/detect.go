package feed

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
)

// headSize is how much of a feed is used to detect its format.
const headSize = 4096

// Detect detects the format from the start of the content; false if no format matches. A few
// hundred bytes are enough: the first row of JSON, which may be truncated, or the header of
// CSV.
func Detect(head []byte) (Format, bool) {
	head = bytes.TrimSpace(bytes.TrimPrefix(head, byteOrderMark))
	row, isArray := bytes.CutPrefix(head, []byte("["))
	switch has := keys(row); {
	case has["benchmark_id"]:
		return SpareCores, true
	case has["metric"] && !isArray:
		return PerfKit, true
	case has["benchmark"] && !isArray:
		return Samples, true
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
