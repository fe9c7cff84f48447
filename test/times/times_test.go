package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// events are those that gotestsum writes of a run, in which one test passed when it ran again, and the
// last event is incomplete.
const events = `{"Time":"2026-01-02T03:04:05Z","Action":"pass","Package":"example.com/o/p/a/b","Test":"TestOne","Elapsed":7.5}
{"Action":"fail","Package":"example.com/o/p/a/b","Test":"TestTwo/part","Elapsed":1}
{"Action":"fail","Package":"example.com/o/p/a/b","Test":"TestTwo","Elapsed":5}
{"Action":"fail","Package":"example.com/o/p/a/b","Test":"TestThree","Elapsed":0.1}
{"Action":"fail","Package":"example.com/o/p/a/b","Elapsed":14}
{"Action":"pass","Package":"example.com/o/p/quick","Elapsed":0.25}
{"Action":"pass","Package":"example.com/o/p/a/b","Test":"TestTwo/part","Elapsed":1}
{"Action":"pass","Package":"example.com/o/p/a/b","Test":"TestTwo","Elapsed":4}
{"Action":"fail","Package":"example.com/o/p/a/b","Test":"TestThree","Elapsed":0.1}
{"Action":"pass","Package":"example.com/o/p/a/b","El`

const targets = `test-unit 20.100 30.000 2.000
bin/helm 0.500 1.500 0.250
test-unit 1,900 1.000 0.000
`

const want = `
  seconds  CPU  target of make (CPU without that of clusters)
       22   33  test-unit
        0    2  all that took less than a second

  seconds      stage  package
       14  test-unit  a/b
        0        all  1 that took less than a second, or whose result was cached

  seconds      stage  slow test
        9  test-unit  a/b.TestTwo
        8  test-unit  a/b.TestOne

FLAKY in test-unit: a/b.TestTwo failed, and passed when it ran again. Find out why: make test-flaky FLAKY=a/b.TestTwo
FLAKY in test-unit: a/b.TestTwo/part failed, and passed when it ran again.
FAILED in test-unit: a/b.TestThree
`

func TestReport(t *testing.T) {
	of := func(t *testing.T, files map[string]string) string {
		t.Helper()
		folder := t.TempDir()
		for name, content := range files {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var got strings.Builder
		if err := report(&got, folder); err != nil {
			t.Fatal(err)
		}
		return got.String()
	}
	t.Run("shows what took long, and names what failed", func(t *testing.T) {
		if diff := cmp.Diff(want, of(t, map[string]string{"targets": targets, "test-unit-42.json": events})); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a test that passed in a different run still failed", func(t *testing.T) {
		const failed, passed = `{"Action":"fail","Package":"example.com/o/p/a","Test":"TestOne"}`, `{"Action":"pass","Package":"example.com/o/p/a","Test":"TestOne"}`
		if got := of(t, map[string]string{"test-unit-1.json": failed, "test-skew-2.json": passed}); !strings.Contains(got, "\nFAILED in test-unit: a.TestOne\n") {
			t.Error(got)
		}
	})
	t.Run("a package that did not build failed as a whole", func(t *testing.T) {
		if got := of(t, map[string]string{"test-unit-1.json": `{"Action":"fail","Package":"example.com/o/p/a/b"}`}); !strings.Contains(got, "\nFAILED in test-unit: a/b, as a whole\n") {
			t.Error(got)
		}
	})
	t.Run("a run without tests has no failures", func(t *testing.T) {
		if got := of(t, nil); strings.Contains(got, "FAILED") || strings.Contains(got, "FLAKY") {
			t.Error(got)
		}
	})
}
