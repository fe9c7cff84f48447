package recorder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/internal/document"
	"github.com/workload-resizer/workload-resizer/internal/follow"
	"github.com/workload-resizer/workload-resizer/reconciler/journal"
)

// Keys of the ConfigMaps. Only the first one has the mark.
const (
	segmentKey = "segment"
	markKey    = "recorded"
)

// content is what a ConfigMap stores.
type content struct {
	segment *journal.Segment
	mark    journal.Mark
}

// slot is one of the ConfigMaps.
type slot struct {
	document *document.Document[content]

	mu sync.Mutex
	// text was parsed last, into segment.
	text    string
	segment *journal.Segment
}

func newSlot(r *Recorder, number int) *slot {
	s := &slot{}
	s.document = document.New(document.Config[content]{
		Source:   follow.ConfigMap{Client: r.config.Client, Namespace: r.config.Namespace, Name: Names(r.config.Prefix)[number]},
		Noun:     "journal entries",
		ReadOnly: r.config.ReadOnly,
		Clock:    r.config.Clock,
		Parse:    s.parse,
		Accept: func(_ context.Context, c content) document.InForce {
			r.took(number, c)
			count := 0
			if c.segment != nil {
				count = len(c.segment.Entries)
			}
			return document.InForce{Count: count}
		},
		Reject: func(ctx context.Context, err error) {
			klog.FromContext(ctx).Error(err, "Part of the journal cannot be read, and stays as it is")
			r.changes.Notify()
		},
		OnReject: r.config.OnReject,
	})
	return s
}

// took puts the content of a ConfigMap into effect.
func (r *Recorder) took(number int, c content) {
	r.mu.Lock()
	if number == 0 {
		r.mark = c.mark
	}
	if r.book[number] != c.segment {
		r.book[number], r.sorted = c.segment, nil
	}
	r.mu.Unlock()
	r.changes.Notify()
}

// parse reads the data of the ConfigMap. A segment that it has read before is the same pointer.
func (s *slot) parse(data map[string]string) (c content, err error) {
	for key := range data {
		if key != segmentKey && key != markKey {
			return c, fmt.Errorf("%s: unknown key", key)
		}
	}
	if text := data[markKey]; text != "" {
		if c.mark, err = parseMark(text); err != nil {
			return c, fmt.Errorf("%s: %w", markKey, err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	text := data[segmentKey]
	if text != s.text || text != "" && s.segment == nil {
		segment, err := journal.Parse(text)
		if err != nil {
			return c, fmt.Errorf("%s: %w", segmentKey, err)
		}
		s.text, s.segment = text, segment
	}
	c.segment = s.segment
	return c, nil
}

// mark is how a journal.Mark is stored.
type mark struct {
	Until  string `json:"until"`
	Writer string `json:"writer"`
	Ended  bool   `json:"ended,omitempty"`
}

func parseMark(text string) (journal.Mark, error) {
	var m mark
	if err := document.Decode(text, &m); err != nil {
		return journal.Mark{}, err
	}
	until, err := document.ParseTime(m.Until)
	if err != nil {
		return journal.Mark{}, fmt.Errorf("until: %w", err)
	}
	return journal.Mark{Until: until, Writer: m.Writer, Ended: m.Ended}, nil
}

func markText(m journal.Mark) (string, error) {
	text, err := json.Marshal(mark{document.TimeText(m.Until.UTC().Truncate(time.Second)), m.Writer, m.Ended})
	return string(text), err
}

// errMoved means that another replica has written the ConfigMap, and that the segment to write is another one.
var errMoved = errors.New("another replica has written the journal")
