package server

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

func TestScrapes(t *testing.T) {
	t.Run("requests that overlap share an answer", requestsThatOverlapShareAnAnswer)
	t.Run("requests that do not overlap get current metrics", requestsThatDoNotOverlapGetCurrentMetrics)
	t.Run("an answer is shared for a second", anAnswerIsSharedForASecond)
	t.Run("callers get the form that they accept", callersGetTheFormThatTheyAccept)
	t.Run("an error is passed on", anErrorIsPassedOn)
	t.Run("slow readers take no memory of their own", slowReadersTakeNoMemoryOfTheirOwn)
}

// counted counts how often metrics are encoded.
type counted struct {
	http.Handler
	mu    sync.Mutex
	times int
}

func (c *counted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	c.times++
	c.mu.Unlock()
	c.Handler.ServeHTTP(w, r)
}

func encoder(registered ...prometheus.Collector) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(registered...)
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
}

// slow is the response to a caller that reads nothing until it goes on.
type slow struct {
	http.ResponseWriter
	// reads receives when the first byte is sent.
	reads chan<- struct{}
	goOn  <-chan struct{}
}

func (s slow) Write(p []byte) (int, error) {
	s.reads <- struct{}{}
	<-s.goOn
	return s.ResponseWriter.Write(p)
}

// scrapeSlowly begins requests of slow readers, and returns once all wait for these. After end,
// all have got their answers.
func scrapeSlowly(handler http.Handler, n int) (end func()) {
	reads, goOn := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	for range n {
		all.Go(func() { handler.ServeHTTP(slow{httptest.NewRecorder(), reads, goOn}, scrapeRequest("", "gzip")) })
	}
	for range n {
		<-reads
	}
	return func() {
		close(goOn)
		all.Wait()
	}
}

func scrapeRequest(accept, encoding string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	r.Header.Set("Accept", accept)
	r.Header.Set("Accept-Encoding", encoding)
	return r
}

func requestsThatOverlapShareAnAnswer(t *testing.T) {
	encode := &counted{Handler: encoder(collectors.NewGoCollector())}
	s := newScrapes(encode)
	scrapeSlowly(s, 100)()
	if encode.times != 1 {
		t.Errorf("encoded %d times", encode.times)
	}
	if len(s.latest) != 0 {
		t.Errorf("kept %v", s.latest)
	}
}

func requestsThatDoNotOverlapGetCurrentMetrics(t *testing.T) {
	gauge := prometheus.NewGauge(prometheus.GaugeOpts{Name: "x"})
	s := newScrapes(encoder(gauge))
	for _, want := range []string{"\nx 0\n", "\nx 1\n"} {
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, scrapeRequest("", "")); !strings.Contains(w.Body.String(), want) {
			t.Errorf("got %q, want %q", w.Body, want)
		}
		gauge.Inc()
	}
}

func anAnswerIsSharedForASecond(t *testing.T) {
	s := newScrapes(encoder())
	began := time.Now()
	first := s.enter(form{}, began)
	if second := s.enter(form{}, began.Add(scrapeAge)); second != first {
		t.Error("not shared")
	}
	fresh := s.enter(form{}, began.Add(scrapeAge+1))
	if fresh == first {
		t.Error("an old answer is shared")
	}
	// The end of requests for the old one does not end the new one.
	s.leave(form{}, first)
	s.leave(form{}, first)
	if s.enter(form{}, began.Add(scrapeAge+2)) != fresh {
		t.Error("the new answer is not shared")
	}
}

// The library is asked with the same headers.
func callersGetTheFormThatTheyAccept(t *testing.T) {
	library := encoder(collectors.NewGoCollector())
	s := newScrapes(library)
	const (
		prometheus3 = "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
		binary      = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6,text/plain;version=0.0.4;q=0.3"
	)
	for _, accept := range []string{"", "*/*", "text/plain;version=0.0.4", "text/html", prometheus3, binary} {
		for _, encoding := range []string{"", "gzip", "deflate, gzip;q=1.0, *;q=0.5", "gzip;q=0", "identity", "br"} {
			want, got := httptest.NewRecorder(), httptest.NewRecorder()
			library.ServeHTTP(want, scrapeRequest(accept, encoding))
			s.ServeHTTP(got, scrapeRequest(accept, encoding))
			mediaType := func(w *httptest.ResponseRecorder) string {
				name, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";")
				return name
			}
			if got.Code != http.StatusOK || mediaType(got) != mediaType(want) || got.Header().Get("Content-Encoding") != want.Header().Get("Content-Encoding") {
				t.Errorf("Accept %q, Accept-Encoding %q: %d %v, want %v", accept, encoding, got.Code, got.Header(), want.Header())
			}
		}
	}
}

func anErrorIsPassedOn(t *testing.T) {
	s := newScrapes(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "broken", http.StatusInternalServerError) }))
	w := httptest.NewRecorder()
	if s.ServeHTTP(w, scrapeRequest("", "")); w.Code != http.StatusInternalServerError || w.Body.String() != "broken\n" {
		t.Errorf("got %d %q", w.Code, w.Body)
	}
}

func slowReadersTakeNoMemoryOfTheirOwn(t *testing.T) {
	const readers, most = 400, 64 << 10
	gauges := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "x"}, []string{"a"})
	for n := range 1000 {
		gauges.WithLabelValues(strings.Repeat(string(rune('a'+n%26)), n%50) + time.Duration(n).String()).Set(1)
	}
	s := newScrapes(encoder(gauges))
	s.ServeHTTP(httptest.NewRecorder(), scrapeRequest("", "gzip")) // Fills the pools of the library.
	before := allocated()
	end := scrapeSlowly(s, readers)
	grown := (int(allocated()) - int(before)) / readers
	end()
	t.Logf("%d bytes per reader", grown)
	if grown > most {
		t.Errorf("%d bytes per reader, more than %d", grown, most)
	}
}

// allocated returns how many bytes are in use.
func allocated() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}
