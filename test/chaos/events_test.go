package chaos

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
)

// repeating forwards the events of a watch and repeats them. After each event, it sends
// the previous event for the same object, and then the new event again. It reads only
// JSON.
type repeating struct {
	next     http.RoundTripper
	repeated *atomic.Int64
}

// RoundTrip implements http.RoundTripper.
func (r repeating) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := r.next.RoundTrip(request)
	if err != nil || !isWatch(request) || response.StatusCode != http.StatusOK {
		return response, err
	}
	from := response.Body
	read, write := io.Pipe()
	response.Body = both{read, from}
	go func() { _ = write.CloseWithError(r.copy(write, bufio.NewReader(from))) }()
	return response, nil
}

// both closes the connection when the reader of the copy closes it.
type both struct {
	*io.PipeReader
	from io.Closer
}

func (b both) Close() error {
	_ = b.PipeReader.Close() // It never fails.
	return b.from.Close()
}

func (r repeating) copy(to io.Writer, from *bufio.Reader) error {
	last := map[string][]byte{}
	for {
		line, err := from.ReadBytes('\n')
		if err != nil {
			return err
		}
		out := [][]byte{line}
		var event struct {
			Type   watch.EventType
			Object struct {
				Metadata struct{ UID string }
			}
		}
		if err := json.Unmarshal(line, &event); err != nil {
			return fmt.Errorf("read an event: %w", err)
		}
		if uid := event.Object.Metadata.UID; uid != "" && event.Type != watch.Bookmark {
			if before := last[uid]; before != nil {
				out = append(out, before)
			}
			out = append(out, line)
			last[uid] = line
			r.repeated.Add(1)
		}
		for _, line := range out {
			if _, err := to.Write(line); err != nil {
				return err
			}
		}
	}
}

// repeatedEvents delivers old events after new ones, and all of them twice.
func (s *suite) repeatedEvents(t *testing.T) {
	r := random(t)
	w := newWorld(t, s.config, randomTable(r), "n2d", "n4", "c3")
	w.createMixed(t, 2*len(shapes), plain)
	o := w.observe(t)
	var repeated atomic.Int64
	reads := rest.CopyConfig(s.config)
	reads.ContentType, reads.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	reads.Wrap(func(next http.RoundTripper) http.RoundTripper { return repeating{next, &repeated} })
	w.start(t, reads, s.config)
	w.awaitAllRight(t, "at first")
	for change := range 4 {
		tbl := randomTable(r)
		o.allow(tbl)
		w.setTable(tbl)
		w.setNodeType(t, w.nodes[change%len(w.nodes)].Name, nodeTypes[r.IntN(len(nodeTypes))])
		w.awaitAllRight(t, fmt.Sprintf("after change %d", change))
	}
	o.check(t)
	if repeated.Load() == 0 {
		t.Error("no event was repeated")
	}
}
