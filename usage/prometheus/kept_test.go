package prometheus

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
	"github.com/workload-resizer/workload-resizer/usage"
)

// failing forwards queries to a Prometheus until it has had a number of them, and then refuses them.
type failing struct {
	forward      http.Handler
	asked, after int
}

func (f *failing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if f.asked++; f.asked > f.after {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	f.forward.ServeHTTP(w, r)
}

func TestKept(t *testing.T) {
	address, _ := localcluster.RecordedPrometheusForTest(t, recorded())
	behind, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	since, until := began.Add(-time.Hour), began.Add(8*time.Hour)
	read := func(t *testing.T, c Config) (all []usage.Sample, queries int, err error) {
		t.Helper()
		answered := 0
		c.Progress = func(n, of int) { answered, queries = n, of }
		err = newSource(t, c).Read(t.Context(), since, until, func(s usage.Sample) { all = append(all, s) })
		if err == nil && answered != queries {
			t.Errorf("the progress ends with %d of %d", answered, queries)
		}
		return all, queries, err
	}
	serve := func(t *testing.T, h http.Handler) string {
		t.Helper()
		server := httptest.NewServer(h)
		t.Cleanup(server.Close)
		return server.URL
	}
	complete, queries, err := read(t, Config{Address: address})
	if err != nil || len(complete) != len(want()) {
		t.Fatalf("%d samples: %v", len(complete), err)
	}
	t.Run("are not asked for again after an interruption", func(t *testing.T) {
		const answered = 20
		proxy := &failing{forward: httputil.NewSingleHostReverseProxy(behind), after: answered}
		c := Config{Address: serve(t, proxy), Kept: filepath.Join(t.TempDir(), "new", "folder")}
		if _, _, err := read(t, c); err == nil {
			t.Fatal("it was not interrupted")
		}
		proxy.asked, proxy.after = 0, queries
		got, _, err := read(t, c)
		if err != nil || proxy.asked != queries-answered || !reflect.DeepEqual(got, complete) {
			t.Errorf("%d samples after %d queries: %v", len(got), proxy.asked, err)
		}
	})
	t.Run("are for their range and query", func(t *testing.T) {
		c := Config{Address: address, Kept: t.TempDir()}
		if _, _, err := read(t, c); err != nil {
			t.Fatal(err)
		}
		c.Selector = `namespace="other"`
		if got, _, err := read(t, c); err != nil || len(got) != 0 {
			t.Errorf("%d samples of another selector: %v", len(got), err)
		}
	})
	t.Run("are asked for again if their files are damaged", func(t *testing.T) {
		c := Config{Address: address, Kept: t.TempDir()}
		if _, _, err := read(t, c); err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(c.Kept, "*"))
		if err != nil || len(files) != queries {
			t.Fatalf("%d files of %d queries: %v", len(files), queries, err)
		}
		for i, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, text[:len(text)*(i%3)/3], 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got, _, err := read(t, c); err != nil || !reflect.DeepEqual(got, complete) {
			t.Errorf("%d samples: %v", len(got), err)
		}
	})
	t.Run("need a folder that can be written, and nothing fails without one", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, _, err := read(t, Config{Address: address, Kept: file}); err != nil || !reflect.DeepEqual(got, complete) {
			t.Errorf("%d samples: %v", len(got), err)
		}
	})
	for name, test := range map[string]struct {
		answer string
		ago    time.Duration
	}{
		"with a warning": {`{"warnings":["no answer from store-1"],` + matrix("")[1:], 100 * time.Hour},
		"in part":        {`{"isPartial":true,` + matrix("")[1:], 100 * time.Hour},
		"of this hour":   {matrix(""), 0},
	} {
		t.Run("have no answer "+name, func(t *testing.T) {
			asked := 0
			c := Config{Kept: t.TempDir(), Address: serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				asked++
				_, _ = io.WriteString(w, test.answer)
			}))}
			now := time.Now().Add(-test.ago)
			for range 2 {
				_ = newSource(t, c).Read(t.Context(), now.Add(-time.Hour), now, func(usage.Sample) {})
			}
			if files, _ := filepath.Glob(filepath.Join(c.Kept, "*")); len(files) > 0 || asked%(2*queriesOfUsage) != 0 || asked == 0 {
				t.Errorf("kept %d answers of %d queries", len(files), asked)
			}
		})
	}
}

func TestSplit(t *testing.T) {
	at := func(minutes int) time.Time {
		return began.Truncate(time.Hour).Add(time.Duration(minutes) * time.Minute)
	}
	const step = 5 * time.Minute
	for name, test := range map[string]struct {
		first, until int
		// want has the beginning and the end of each range.
		want [][2]int
	}{
		"nothing":                      {10, 9, nil},
		"one step":                     {10, 14, [][2]int{{10, 10}}},
		"hours, and what is not whole": {55, 131, [][2]int{{55, 60}, {65, 120}, {125, 130}}},
		"the same hours from the next": {60, 136, [][2]int{{60, 60}, {65, 120}, {125, 135}}},
		"whole hours":                  {5, 120, [][2]int{{5, 60}, {65, 120}}},
	} {
		t.Run(name, func(t *testing.T) {
			var got [][2]int
			for _, r := range split(at(test.first), at(test.until), step, 12) {
				got = append(got, [2]int{int(r.Start.Sub(at(0)).Minutes()), int(r.End.Sub(at(0)).Minutes())})
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("%v, want %v", got, test.want)
			}
		})
	}
}
