package feed

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// maxDocument is the maximum size of a feed that is one JSON document.
const maxDocument = 8 << 20

// documentLine is the line of the results in a document: they have none of their own.
const documentLine = 1

// of returns the fault of a result in a document, with the names that lead to it.
func (f *Fault) of(names ...string) *Fault {
	path := strings.Join(append(names, f.Field), ", ")
	if len(path) > maxName {
		return f
	}
	return &Fault{Line: f.Line, Field: strings.TrimSuffix(path, ", "), Code: f.Code, Reason: f.Reason}
}

// document reads a feed that is one JSON document.
func document(in *bufio.Reader, into any) error {
	text, err := io.ReadAll(io.LimitReader(in, maxDocument+1))
	switch {
	case err != nil:
		return fmt.Errorf("read the feed: %w", err)
	case len(text) > maxDocument:
		return fmt.Errorf("the document is larger than %d bytes", maxDocument)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("read the document: %s", unreadable(err).Reason)
	}
	return nil
}
