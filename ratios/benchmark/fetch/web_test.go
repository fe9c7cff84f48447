package fetch

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/feed"
)

// site is a server whose response can be replaced.
type site struct {
	*httptest.Server
	answer   atomic.Pointer[http.HandlerFunc]
	requests atomic.Int32
}

func newSite(t *testing.T, start func(http.Handler) *httptest.Server, answer http.HandlerFunc) *site {
	t.Helper()
	s := &site{}
	s.serve(answer)
	s.Server = start(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		(*s.answer.Load())(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *site) serve(answer http.HandlerFunc) { s.answer.Store(&answer) }

func (s *site) feed() Feed {
	return Feed{Name: "site", Place: Place{URL: s.URL + "/scores"}, Insecure: true, Interval: time.Hour}
}

// text returns a response without support for conditional requests.
func text(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
}

func TestWeb(t *testing.T) {
	t.Run("transfers and delivers an unchanged feed once a day", transfersAndDeliversAnUnchangedFeedOnceADay)
	t.Run("delivers unchanged content once a day even without ETag", deliversUnchangedContentOnceADayEvenWithoutETag)
	t.Run("keeps the last good copy until there is another", keepsTheLastGoodCopyUntilThereIsAnother)
	t.Run("shows what is wrong with a feed that never had a valid row", showsWhatIsWrongWithAFeedThatNeverHadAValidRow)
	t.Run("transfers an unchanged invalid copy once", transfersAnUnchangedInvalidCopyOnce)
	t.Run("retries a failing feed soon and then less often up to its interval", retriesAFailingFeedSoonAndThenLessOftenUpToItsInterval)
	t.Run("waits as long as a server requests", waitsAsLongAsAServerRequests)
	t.Run("transfers feeds compressed", transfersFeedsCompressed)
	t.Run("follows redirects but not from https to http", followsRedirectsButNotFromHTTPSToHTTP)
	t.Run("gets nothing over http unless it is allowed", getsNothingOverHTTPUnlessItIsAllowed)
	t.Run("never connects to a metadata service", neverConnectsToAMetadataService)
	t.Run("reads the table of servers with the feed", readsTheTableOfServersWithTheFeed)
	t.Run("reads new content later if the table of servers fails", readsNewContentLaterIfTheTableOfServersFails)
	t.Run("sends credentials and does not show them", sendsCredentialsAndDoesNotShowThem)
}

func transfersAndDeliversAnUnchangedFeedOnceADay(t *testing.T) {
	for name, header := range map[string][3]string{
		"by ETag":          {"ETag", `"1"`, "If-None-Match"},
		"by Last-Modified": {"Last-Modified", "Sat, 21 Nov 2026 00:00:00 GMT", "If-Modified-Since"},
	} {
		t.Run(name, func(t *testing.T) {
			var asked []string
			s := newSite(t, httptest.NewServer, func(w http.ResponseWriter, r *http.Request) {
				asked = append(asked, r.Header.Get(header[2]))
				if agent := r.Header.Get("User-Agent"); agent != "workload-resizer" {
					t.Errorf("User-Agent %q", agent)
				}
				w.Header().Set(header[0], header[1])
				if asked[len(asked)-1] == header[1] {
					w.WriteHeader(http.StatusNotModified)
					return
				}
				_, _ = io.WriteString(w, "a\nb\n")
			})
			p := poll(t, s.feed())
			p.first()
			for range 24 {
				status := p.after(time.Hour)
				if status.Err != nil || !status.LastSuccess.Equal(p.clock.Now()) || status.Result.Rows != 2 {
					t.Fatalf("status %+v", status)
				}
			}
			want := []string{""}
			for range 23 {
				want = append(want, header[1])
			}
			if diff := cmp.Diff(append(want, ""), asked); diff != "" {
				t.Error(diff)
			}
			p.wantDelivered("a b", "a b")
			if first, last := p.delivered[0][0].Time, p.delivered[1][0].Time; last.Sub(first) != 24*time.Hour {
				t.Errorf("read as of %s, then %s", first, last)
			}
		})
	}
}

func deliversUnchangedContentOnceADayEvenWithoutETag(t *testing.T) {
	s := newSite(t, httptest.NewServer, text("a"))
	p := poll(t, s.feed())
	p.first()
	p.after(time.Hour)
	p.wantDelivered("a")
	s.serve(text("b"))
	p.after(time.Hour)
	p.wantDelivered("a", "b")
	for range 24 {
		p.after(time.Hour)
	}
	p.wantDelivered("a", "b", "b")
}

func keepsTheLastGoodCopyUntilThereIsAnother(t *testing.T) {
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code); _, _ = io.WriteString(w, "b") }
	}
	long := strings.Repeat("b\n", 600)
	for name, tc := range map[string]struct {
		bad  http.HandlerFunc
		want string
	}{
		"a server error":          {status(500), "responded with 500 Internal Server Error"},
		"no such page":            {status(404), "responded with 404 Not Found"},
		"partial content":         {status(206), "responded with 206 Partial Content"},
		"304 without a condition": {status(304), "responded with 304 Not Modified"},
		"a truncated copy": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "9")
			_, _ = io.WriteString(w, "b")
		}, "unexpected EOF"},
		"a connection that is cut":  {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
		"a copy that is too large":  {text(long), "larger than 1024 bytes"},
		"a large Content-Length":    {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", strconv.Itoa(1<<40)) }, "larger than 1024 bytes"},
		"a redirect loop":           {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/scores", http.StatusFound) }, "more than 5 redirects"},
		"an invalid copy":           {text("b\nbroken"), "unknown format"},
		"a copy with only bad rows": {text("bad\nbad"), "none of the 2 rows is valid, e.g. line 1: score must be above 0"},
		"an empty copy":             {text(""), "none of the 0 rows is a sample"},
		"a server that never finishes": {func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "b")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, "timed out after 500ms"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, httptest.NewServer, text("a\nbad"))
			p := poll(t, s.feed())
			p.timeout = 500 * time.Millisecond
			good := p.first()
			p.wantErr(good, "")
			s.serve(tc.bad)
			status := p.after(time.Hour)
			p.wantErr(status, tc.want)
			p.wantErr(status, "; the copy from 60m ago stays in effect")
			p.wantErr(status, s.URL+"/scores: ")
			if !status.LastSuccess.Equal(good.LastSuccess) || !cmp.Equal(status.Result, good.Result) || good.Result.Bad != 1 {
				t.Errorf("the copy is from %s, %+v, not from %s, %+v", status.LastSuccess, status.Result, good.LastSuccess, good.Result)
			}
			p.wantDelivered("a")
			s.serve(text("c"))
			p.wantErr(p.after(time.Minute), "")
			p.wantDelivered("a", "c")
		})
	}
}

func showsWhatIsWrongWithAFeedThatNeverHadAValidRow(t *testing.T) {
	s := newSite(t, httptest.NewServer, text("bad"))
	p := poll(t, s.feed())
	status := p.first()
	p.wantErr(status, "none of the 1 rows is valid")
	if !status.LastSuccess.IsZero() || len(status.Result.Faults) != 1 || strings.Contains(status.Err.Error(), "stays in effect") {
		t.Errorf("status %+v", status)
	}
	p.wantDelivered()
}

func transfersAnUnchangedInvalidCopyOnce(t *testing.T) {
	transferred := 0
	s := newSite(t, httptest.NewServer, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		transferred++
		_, _ = io.WriteString(w, "broken")
	})
	p := poll(t, s.feed())
	p.first()
	p.wantErr(p.after(time.Minute), "unknown format")
	p.wantErr(p.after(2*time.Minute), "unknown format")
	if transferred != 1 {
		t.Errorf("transferred %d times", transferred)
	}
}

func retriesAFailingFeedSoonAndThenLessOftenUpToItsInterval(t *testing.T) {
	s := newSite(t, httptest.NewServer, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	f := s.feed()
	f.Interval = 10 * time.Minute
	p := poll(t, f)
	p.first()
	for _, minutes := range []time.Duration{1, 2, 4, 8, 10, 10} {
		p.after(minutes * time.Minute)
	}
	s.serve(text("a"))
	p.wantErr(p.after(10*time.Minute), "")
	p.after(10 * time.Minute)
	s.serve(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	p.after(10 * time.Minute)
	p.after(time.Minute)
	if n := s.requests.Load(); n != 11 {
		t.Errorf("%d requests", n)
	}
}

func waitsAsLongAsAServerRequests(t *testing.T) {
	for name, tc := range map[string]struct {
		code  int
		value string
		want  time.Duration
	}{
		"in seconds":                             {429, "7200", 2 * time.Hour},
		"until a time":                           {503, "Sat, 21 Nov 2026 04:02:04 GMT", 3 * time.Hour},
		"at most a day":                          {429, "999999", 24 * time.Hour},
		"at least as long as after other errors": {503, "1", time.Minute},
		"a time in the past":                     {503, "Sat, 21 Nov 2020 04:02:04 GMT", time.Minute},
		"an invalid header":                      {429, "soon", time.Minute},
		"not after other errors":                 {500, "7200", time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, httptest.NewServer, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", tc.value)
				w.WriteHeader(tc.code)
			})
			p := poll(t, s.feed())
			p.wantErr(p.first(), fmt.Sprintf("responded with %d", tc.code))
			p.after(tc.want)
		})
	}
}

func compressed(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			w.WriteHeader(http.StatusNotAcceptable)
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, text)
		_ = z.Close()
	}
}

func transfersFeedsCompressed(t *testing.T) {
	p := poll(t)
	// The reader of the feed decompresses it.
	p.read = func(f feed.Format, r io.Reader, o feed.Options) (feed.Result, error) {
		z, err := gzip.NewReader(r)
		if err != nil {
			t.Error(err)
			return feed.Result{}, err
		}
		return lines(f, z, o)
	}
	p.Set([]Feed{newSite(t, httptest.NewServer, compressed("a")).feed()})
	p.wantErr(p.first(), "")
	p.wantDelivered("a")
}

func followsRedirectsButNotFromHTTPSToHTTP(t *testing.T) {
	plain := newSite(t, httptest.NewServer, text("a"))
	secure := newSite(t, httptest.NewTLSServer, text("b"))
	to := func(url string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/scores" {
				if told := r.Referer(); told != "" {
					t.Errorf("sent %s to the next server", told)
				}
				text("moved")(w, r)
				return
			}
			http.Redirect(w, r, url, http.StatusFound)
		}
	}
	p := poll(t)
	p.transport.TLSClientConfig = secure.Client().Transport.(*http.Transport).TLSClientConfig
	p.Set([]Feed{secure.feed()})
	p.wantErr(p.first(), "")
	secure.serve(to("/moved"))
	p.wantErr(p.after(time.Hour), "")
	secure.serve(to(plain.URL))
	p.wantErr(p.after(time.Hour), "refused a redirect from https to http")
	p.wantDelivered("b", "moved")
	if plain.requests.Load() > 0 {
		t.Error("sent a request without TLS")
	}
}

func getsNothingOverHTTPUnlessItIsAllowed(t *testing.T) {
	s := newSite(t, httptest.NewServer, text("a"))
	f := s.feed()
	f.Insecure = false
	p := poll(t, f)
	p.wantErr(p.first(), "others on the network can change its content")
	if s.requests.Load() > 0 {
		t.Error("sent a request")
	}
}

func neverConnectsToAMetadataService(t *testing.T) {
	for _, host := range []string{"169.254.169.254", "[fd00:ec2::254]", "[::ffff:169.254.169.254]", "100.100.100.200", "169.254.170.2:80", "[fd00:c1::a9fe:a9fe]", "[64:ff9b::a9fe:a9fe]", "[fe80::1%25lo]"} {
		p := poll(t, Feed{Name: "a", Place: Place{URL: "http://" + host + "/latest"}, Insecure: true})
		p.wantErr(p.first(), "metadata service")
		from := newSite(t, httptest.NewServer, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://"+host+"/latest", http.StatusFound)
		})
		p = poll(t, from.feed())
		p.wantErr(p.first(), "metadata service")
	}
	t.Run("not even under another name", func(t *testing.T) {
		// The address is checked when a name has been resolved.
		if err := checkAddress("tcp", "169.254.169.254:443", nil); err == nil {
			t.Error("connects")
		}
		if err := checkAddress("tcp", "127.0.0.1:443", nil); err != nil {
			t.Error(err)
		}
	})
	t.Run("not even through a proxy", func(t *testing.T) {
		transport := newTransport()
		for _, host := range []string{"metadata.google.internal", "METADATA.google.internal.", "169.254.169.254", "[fd00:ec2::254]"} {
			request, err := http.NewRequest(http.MethodGet, "http://"+host+"/", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := transport.Proxy(request); err == nil {
				t.Errorf("asks a proxy for %s", host)
			}
		}
	})
}

func readsTheTableOfServersWithTheFeed(t *testing.T) {
	table := newSite(t, httptest.NewServer, text(`{"vendor_id":"gcp","server_id":"4711","api_reference":"n4-standard-8","vcpus":8}`))
	f := newSite(t, httptest.NewServer, text("a")).feed()
	f.Servers = &Place{URL: table.URL}
	p := poll(t)
	p.read = func(f feed.Format, r io.Reader, o feed.Options) (feed.Result, error) {
		if len(o.Servers) != 1 {
			t.Errorf("%v", o.Servers)
		}
		return lines(f, r, o)
	}
	p.Set([]Feed{f})
	p.wantErr(p.first(), "")
	table.serve(text("{}"))
	p.wantErr(p.after(time.Hour), "") // Neither is read again: the feed is unchanged.
	table.serve(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	for range 22 {
		p.after(time.Hour)
	}
	p.wantErr(p.after(time.Hour), "get "+table.URL+": the server responded with 404")
	p.wantDelivered("a")
}

func readsNewContentLaterIfTheTableOfServersFails(t *testing.T) {
	const servers = `{"vendor_id":"gcp","server_id":"4711","api_reference":"n4-standard-8","vcpus":8}`
	table := newSite(t, httptest.NewServer, text(servers))
	content := "a"
	f := newSite(t, httptest.NewServer, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", strconv.Quote(content))
		if r.Header.Get("If-None-Match") == strconv.Quote(content) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = io.WriteString(w, content)
	}).feed()
	f.Servers = &Place{URL: table.URL}
	p := poll(t, f)
	p.wantErr(p.first(), "")
	content = "b"
	table.serve(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	p.wantErr(p.after(time.Hour), "get "+table.URL+": the server responded with 404")
	p.wantErr(p.after(time.Minute), "get "+table.URL+": the server responded with 404")
	table.serve(text(servers))
	p.wantErr(p.after(2*time.Minute), "")
	p.wantDelivered("a", "b")
}

func sendsCredentialsAndDoesNotShowThem(t *testing.T) {
	s := newSite(t, httptest.NewServer, func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "ann" || password != "s3cret" || r.URL.RawQuery != "sig=s3cret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, "a")
	})
	f := s.feed()
	f.URL = strings.Replace(s.URL, "http://", "http://ann:s3cret@", 1) + "/scores?sig=s3cret"
	p := poll(t, f)
	p.wantErr(p.first(), "")
	s.serve(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	failed := p.after(time.Hour)
	s.Close()
	refused := p.after(time.Minute)
	p.wantErr(refused, "connection refused")
	for _, said := range []string{failed.Err.Error(), refused.Err.Error(), f.Location()} {
		if strings.Contains(said, "ann") || strings.Contains(said, "s3cret") || !strings.Contains(said, s.URL+"/scores?") {
			t.Errorf("shown: %q", said)
		}
	}
}
