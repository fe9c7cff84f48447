package backtest

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/usage/prometheus"
)

func TestKept(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	file := func(t *testing.T, name, text string) string {
		t.Helper()
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	config := prometheus.Config{Address: "https://host", Tenant: "team"}
	config.TokenFile, config.HeadersFile = file(t, "token", "first"), file(t, "headers", "X-Team: a")
	folder := keptOf(config)
	for name, test := range map[string]struct {
		change func(*prometheus.Config)
		same   bool
	}{
		"another address":  {func(c *prometheus.Config) { c.Address = "https://user:secret@host" }, false},
		"another tenant":   {func(c *prometheus.Config) { c.Tenant = "" }, false},
		"other headers":    {func(c *prometheus.Config) { c.HeadersFile = file(t, "headers", "X-Team: b") }, false},
		"a different file": {func(c *prometheus.Config) { c.TokenFile = file(t, "token", "first") }, false},
		"a newer token": {func(c *prometheus.Config) {
			if err := os.WriteFile(c.TokenFile, []byte("second"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, true},
		"another selector, which is part of the queries": {func(c *prometheus.Config) { c.Selector = `cluster="a"` }, true},
	} {
		t.Run("has a folder for "+name, func(t *testing.T) {
			c := config
			test.change(&c)
			if got := keptOf(c); (got == folder) != test.same {
				t.Errorf("%s, and %s before", got, folder)
			}
		})
	}
	t.Run("removes what nobody came back for", func(t *testing.T) {
		other := filepath.Join(filepath.Dir(folder), "other")
		for of, age := range map[string]time.Duration{folder: keptFor - time.Minute, other: keptFor + time.Minute} {
			if err := os.MkdirAll(of, 0o700); err != nil {
				t.Fatal(err)
			}
			at := time.Now().Add(-age)
			if err := os.Chtimes(of, at, at); err != nil {
				t.Fatal(err)
			}
		}
		keptOf(config)
		if entries, err := os.ReadDir(filepath.Dir(folder)); err != nil || len(entries) != 1 || entries[0].Name() != filepath.Base(folder) {
			t.Errorf("%v, %v", entries, err)
		}
	})
	t.Run("has no folder without a place for it", func(t *testing.T) {
		t.Setenv("XDG_CACHE_HOME", "")
		t.Setenv("HOME", "")
		if got := keptOf(config); got != "" {
			t.Error(got)
		}
	})
}
