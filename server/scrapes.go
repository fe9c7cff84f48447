package server

import (
	"bytes"
	"maps"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/common/expfmt"
)

// scrapeAge is how old an answer with metrics may be when another request begins to share it.
const scrapeAge = time.Second

// scrapes serves metrics. Requests that overlap share one encoded answer, so callers that read
// slowly take no memory of their own: as requests end after httpTimeout, there are never more
// answers than seconds in that, per form.
type scrapes struct {
	// encode is the handler of Prometheus' client library.
	encode http.Handler

	mu sync.Mutex
	// latest has the latest answer of each form, while a request uses it.
	latest map[form]*scrape
}

// form is how an answer is encoded: as text or in the binary format, each with gzip or
// without. These are all that Prometheus negotiates here. The library also has formats for people
// who debug the binary one, and spellings of the same text for names that we do not have. Callers
// that prefer these get text, so that they cannot have the same metrics encoded in many forms.
type form struct{ binary, gzip bool }

// scrape is an answer. Its fields below made are set when made has been called.
type scrape struct {
	began   time.Time
	readers int
	made    func()

	status int
	header http.Header
	body   bytes.Buffer
}

func newScrapes(encode http.Handler) *scrapes {
	return &scrapes{encode: encode, latest: map[form]*scrape{}}
}

// ServeHTTP implements http.Handler.
func (s *scrapes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	as := formOf(r.Header)
	answer := s.enter(as, time.Now())
	defer s.leave(as, answer)
	answer.made()
	maps.Copy(w.Header(), answer.header)
	w.Header().Set("Content-Length", strconv.Itoa(answer.body.Len()))
	w.WriteHeader(answer.status)
	_, _ = w.Write(answer.body.Bytes()) // Nobody is left to tell.
}

// enter returns an answer in this form for one more request.
func (s *scrapes) enter(as form, now time.Time) *scrape {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := s.latest[as]
	if answer == nil || now.Sub(answer.began) > scrapeAge {
		answer = &scrape{began: now, status: http.StatusOK, header: http.Header{}}
		answer.made = sync.OnceFunc(func() { s.encode.ServeHTTP(recorder{answer}, as.request()) })
		s.latest[as] = answer
	}
	answer.readers++
	return answer
}

// leave ends a request. An answer that no request uses is forgotten, so that the next one is
// up to date.
func (s *scrapes) leave(as form, answer *scrape) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if answer.readers--; answer.readers == 0 && s.latest[as] == answer {
		delete(s.latest, as)
	}
}

// formOf returns the form that a caller prefers.
func formOf(header http.Header) form {
	return form{binary: expfmt.NegotiateAccept(header, expfmt.DefaultAcceptedFormats()...).FormatType() == expfmt.TypeProtoDelim, gzip: acceptsGzip(header)}
}

// acceptsGzip reports whether a caller accepts gzip.
func acceptsGzip(header http.Header) bool {
	for coding := range strings.SplitSeq(strings.Join(header.Values("Accept-Encoding"), ","), ",") {
		name, params, err := mime.ParseMediaType(coding)
		if err != nil || name != "gzip" {
			continue
		}
		quality, err := strconv.ParseFloat(params["q"], 64)
		return err != nil || quality > 0
	}
	return false
}

// request returns a request for an answer in this form.
func (f form) request() *http.Request {
	header := http.Header{"Accept": {string(expfmt.NewFormat(expfmt.TypeTextPlain))}}
	if f.binary {
		header.Set("Accept", string(expfmt.NewFormat(expfmt.TypeProtoDelim)))
	}
	if f.gzip {
		header.Set("Accept-Encoding", "gzip")
	}
	return &http.Request{Method: http.MethodGet, Header: header}
}

// recorder writes to an answer.
type recorder struct{ to *scrape }

// Header implements http.ResponseWriter.
func (r recorder) Header() http.Header { return r.to.header }

// WriteHeader implements http.ResponseWriter.
func (r recorder) WriteHeader(status int) { r.to.status = status }

// Write implements http.ResponseWriter.
func (r recorder) Write(p []byte) (int, error) { return r.to.body.Write(p) }
