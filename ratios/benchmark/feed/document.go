package feed

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

// maxDocument is the maximum size of a feed that is one JSON document.
const maxDocument = 8 << 20

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
