package journal

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// pack deflates lines as they are stored.
func pack(lines string) string {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.BestSpeed)
	_, _ = w.Write([]byte(lines))
	_ = w.Close()
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// FuzzParse checks that every segment that can be read can be written and read again.
func FuzzParse(f *testing.F) {
	f.Add(`{"class":"acts","number":1,"batch":"b"}` + "\n" + `{"k":"Hold","t":1763640000,"l":3,"n":"shop","w":"Deployment/web","a":"ann","r":"why","f":"none","d":"pause","i":"pause 1"}`)
	f.Add(`{"class":"resizes","number":9}{"k":"Resize","t":1763640000,"s":[1,2,3,4,5,6,7,8],"c":3,"q":2}`)
	f.Add(`{"class":"acts"`)
	f.Fuzz(func(t *testing.T, lines string) {
		s, err := Parse(pack(lines))
		if err != nil {
			return
		}
		text, err := s.Text()
		if errors.Is(err, ErrFull) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s, again); diff != "" {
			t.Error(diff)
		}
	})
}

// full returns a segment of resizes that is nearly full.
func full(number int64) *Segment {
	s := &Segment{Class: Resizes, Number: number}
	var entries []Entry
	for i := range 10_000 {
		hour := time.Duration(i/1000) * time.Hour
		e := resized(fmt.Sprintf("workload-%d", (int64(i)*7919+number*31)%10_000), noon.Add(hour+time.Duration(i*37%3600)*time.Second), int64(100+i%13*50), int64(100+i%11*40))
		e.Namespace, e.Count, e.Pods, e.Ref = fmt.Sprint("team-", i*7919%10_000%100), int64(1+i%15), int64(1+i%15), fmt.Sprint("Resized ", e.At.Truncate(time.Hour).Unix())
		entries = append(entries, e)
	}
	return s.With("b", entries, noon)
}

func BenchmarkText(b *testing.B) {
	s := full(1)
	text := ""
	for b.Loop() {
		text, _ = s.Text()
	}
	b.ReportMetric(float64(len(text))/float64(len(s.Entries)), "bytes/entry")
}

func BenchmarkParse(b *testing.B) {
	text, err := full(1).Text()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		_, _ = Parse(text)
	}
}

// BenchmarkSorted sorts a journal that is full.
func BenchmarkSorted(b *testing.B) {
	var segments []*Segment
	for n := range Slots {
		segments = append(segments, full(int64(n+1)))
	}
	for b.Loop() {
		Sorted(segments, noon)
	}
}

// BenchmarkAdd records a resize, as the loop does.
func BenchmarkAdd(b *testing.B) {
	var batch Batch
	e := resized("web", noon, 500, 400)
	for n := 0; b.Loop(); n++ {
		e.Workload.Name = workloadNames[n%len(workloadNames)]
		batch.Add(e, workloadNames[n%len(workloadNames)], noon)
	}
}

var workloadNames = func() (all []string) {
	for i := range 10_000 {
		all = append(all, fmt.Sprint("workload-", i))
	}
	return all
}()
