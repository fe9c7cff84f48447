package journal

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// A segment as text: a head and its entries, as JSON values one after the other, deflated, in base64.

const (
	// MaxBytes is how many bytes the text of a segment has at most. So the journal takes at most 6.25 MiB.
	MaxBytes = 400 << 10
	// maxUnpacked is how many bytes a segment has at most before it is deflated, and maxEntries how many entries.
	// They bound how much memory a reader needs.
	maxUnpacked = 16 << 20
	maxEntries  = 65_536
)

// ErrFull means that a segment with these entries would be too large.
var ErrFull = errors.New("the segment is full")

type head struct {
	Class  Class  `json:"class"`
	Number int64  `json:"number"`
	Batch  string `json:"batch,omitempty"`
}

// form is an entry as it is stored. A later version that adds a field is not read by this one, so that it loses nothing.
type form struct {
	Kind      Kind      `json:"k"`
	At        int64     `json:"t"`
	Lasts     int64     `json:"l,omitempty"`
	Namespace string    `json:"n,omitempty"`
	Workload  string    `json:"w,omitempty"`
	Pod       string    `json:"p,omitempty"`
	Node      string    `json:"o,omitempty"`
	Author    string    `json:"a,omitempty"`
	Reason    string    `json:"r,omitempty"`
	Message   string    `json:"m,omitempty"`
	From      string    `json:"f,omitempty"`
	To        string    `json:"d,omitempty"`
	Sizes     *[8]int64 `json:"s,omitempty"`
	Count     int64     `json:"c,omitempty"`
	Pods      int64     `json:"q,omitempty"`
	Ref       string    `json:"i,omitempty"`
}

// Text returns the segment as text. The error is ErrFull if it is too large.
func (s *Segment) Text() (string, error) {
	if len(s.Entries) > maxEntries {
		return "", ErrFull
	}
	var raw bytes.Buffer
	encoder := json.NewEncoder(&raw)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(head{s.Class, s.Number, s.Batch}); err != nil {
		return "", err
	}
	for i := range s.Entries {
		if err := encoder.Encode(formOf(&s.Entries[i])); err != nil {
			return "", err
		}
	}
	if raw.Len() > maxUnpacked {
		return "", ErrFull
	}
	var packed strings.Builder
	text := base64.NewEncoder(base64.StdEncoding, &packed)
	deflater, err := flate.NewWriter(text, flate.DefaultCompression)
	if err != nil {
		return "", err
	}
	_, err = raw.WriteTo(deflater)
	if err := errors.Join(err, deflater.Close(), text.Close()); err != nil {
		return "", err
	}
	if packed.Len() > MaxBytes {
		return "", ErrFull
	}
	return packed.String(), nil
}

func formOf(e *Entry) form {
	f := form{
		Kind: e.Kind, At: e.At.Unix(), Namespace: e.Namespace, Pod: e.Pod, Node: e.Node, Author: e.Author, Reason: e.Reason, Message: e.Message,
		From: e.From, To: e.To, Count: e.Count, Pods: e.Pods, Ref: e.Ref,
	}
	if !e.Last.IsZero() {
		f.Lasts = e.Last.Unix() - f.At
	}
	if e.Workload != (workload.Workload{}) {
		f.Workload = e.Workload.Kind + "/" + e.Workload.Name
	}
	if s := e.Sizes; s != (Sizes{}) {
		f.Sizes = &[8]int64{
			s.FromCPU.Least, s.FromCPU.Most, s.FromMemory.Least, s.FromMemory.Most, s.ToCPU.Least, s.ToCPU.Most, s.ToMemory.Least, s.ToMemory.Most,
		}
	}
	return f
}

// Parse reads the text of a segment. Empty text is a nil segment.
func Parse(text string) (*Segment, error) {
	if text == "" {
		return nil, nil
	}
	inflated := flate.NewReader(base64.NewDecoder(base64.StdEncoding.Strict(), strings.NewReader(text)))
	limited := &io.LimitedReader{R: inflated, N: maxUnpacked + 1}
	decoder := json.NewDecoder(limited)
	decoder.DisallowUnknownFields() // A later version has added one, which must not be lost.
	var h head
	if err := decoder.Decode(&h); err != nil {
		return nil, fmt.Errorf("read the head: %w", err)
	}
	if h.Class != Resizes && h.Class != Acts || h.Number <= 0 {
		return nil, fmt.Errorf("the head has the class %q and the number %d", h.Class, h.Number)
	}
	s := &Segment{Class: h.Class, Number: h.Number, Batch: h.Batch}
	same := interned{}
	for n := 1; ; n++ {
		var f form
		err := decoder.Decode(&f)
		if errors.Is(err, io.EOF) && limited.N > 0 {
			break
		}
		switch {
		case limited.N <= 0 || n > maxEntries:
			return nil, fmt.Errorf("has more than %d bytes or %d entries", maxUnpacked, maxEntries)
		case err != nil:
			return nil, fmt.Errorf("read entry %d: %w", n, err)
		}
		e, err := f.entry(same)
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", n, err)
		}
		if e.Kind.Class() != s.Class {
			return nil, fmt.Errorf("entry %d: a %s is not one of the %s", n, e.Kind, s.Class)
		}
		s.Entries = append(s.Entries, e)
	}
	slices.SortStableFunc(s.Entries, func(a, b Entry) int { return a.At.Compare(b.At) })
	return s, nil
}

// interned has strings that are in many entries, once.
type interned map[string]string

func (i interned) of(text string) string {
	if known, ok := i[text]; ok {
		return known
	}
	i[text] = text
	return text
}

// farthest is the largest distance of a time from 1970, and longestLast the largest one between two times, in seconds: the
// end of the year 9999, and less than a time.Duration can be.
const (
	farthest    = 253402300799
	longestLast = 1 << 33
)

func (f *form) entry(same interned) (Entry, error) {
	e := Entry{
		Kind: Kind(same.of(string(f.Kind))), At: time.Unix(f.At, 0).UTC(), Namespace: same.of(f.Namespace), Pod: f.Pod, Node: same.of(f.Node), Author: same.of(f.Author),
		Reason: same.of(f.Reason), Message: same.of(f.Message), From: same.of(f.From), To: same.of(f.To), Count: f.Count, Pods: f.Pods, Ref: same.of(f.Ref),
	}
	if !slices.Contains(Kinds, e.Kind) {
		return e, fmt.Errorf("kind %q is not known", e.Kind)
	}
	if f.At <= 0 || f.At > farthest || f.Lasts < 0 || f.Lasts > min(longestLast, farthest-f.At) {
		return e, fmt.Errorf("the times %d and %d are not valid", f.At, f.Lasts)
	}
	if f.Count < 0 || f.Pods < 0 {
		return e, fmt.Errorf("the counts %d and %d are not valid", f.Count, f.Pods)
	}
	if f.Lasts > 0 {
		e.Last = e.At.Add(time.Duration(f.Lasts) * time.Second)
	}
	if f.Workload != "" {
		kind, name, ok := strings.Cut(f.Workload, "/")
		if !ok || kind == "" || name == "" {
			return e, fmt.Errorf("the workload %q is not valid", f.Workload)
		}
		e.Workload = workload.Workload{Kind: same.of(kind), Name: same.of(name)}
	}
	if s := f.Sizes; s != nil {
		e.Sizes = Sizes{Range{s[0], s[1]}, Range{s[2], s[3]}, Range{s[4], s[5]}, Range{s[6], s[7]}}
	}
	return e, nil
}
