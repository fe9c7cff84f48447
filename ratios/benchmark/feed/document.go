package feed

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	strictjson "sigs.k8s.io/json"
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

// document reads a feed that is one JSON document. It is an error if a key is set twice, because one
// of the values would be lost.
func document(in *bufio.Reader, into any) error {
	text, err := io.ReadAll(io.LimitReader(in, maxDocument+1))
	switch {
	case err != nil:
		return fmt.Errorf("read the feed: %w", err)
	case len(text) > maxDocument:
		return fmt.Errorf("the document is larger than %d bytes", maxDocument)
	}
	doubts, err := strictjson.UnmarshalStrict(text, into, strictjson.DisallowDuplicateFields)
	if err != nil {
		return fmt.Errorf("read the document: %s", unreadable(err).Reason)
	}
	if len(doubts) > 0 {
		twice := doubtful(doubts[0])
		return fmt.Errorf("read the document: %s %s: rename or remove one of the two", quoted(twice.Field), twice.Reason)
	}
	return nil
}
