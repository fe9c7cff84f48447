package suite

import (
	"path"
	"testing"
)

func none(string) string { return "" }

func TestSuites(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range Suites {
		if seen[s.Name] || s.Name == "" || s.Why == "" || s.Weight < 0 {
			t.Errorf("%+v", s)
		}
		seen[s.Name] = true
		for _, test := range s.Tests {
			if _, err := path.Match(test.Name, ""); err != nil {
				t.Errorf("%s: %v", test.Name, err)
			}
			if isPattern := path.Base(test.Name) == "*"; isPattern && s.Weight > 0 {
				t.Errorf("%s: a suite with weight must name its tests", s.Name)
			}
		}
	}
	if len(Weights()) != len(Suites) {
		t.Errorf("%d weights of %d suites", len(Weights()), len(Suites))
	}
}

func TestFind(t *testing.T) {
	with := func(key, value string) func(string) string {
		return func(k string) string {
			if k == key {
				return value
			}
			return ""
		}
	}
	for _, tc := range []struct {
		name    string
		setting func(string) string
		suite   string
		test    int
	}{
		{"geekbench:clang", none, "geekbench", 1},
		{"geekbench:score", none, "geekbench-accelerated", 2},
		{"redis:rps", with("pipeline", "16"), "redis", 0},
		{"redis:rps", with("pipeline", "64"), "redis-variants", 0},
		{"redis:latency", with("pipeline", "16"), "redis-variants", 0},
		{"openssl", with("algo", "sha256"), "openssl", 0},
		{"passmark:memory_mark", none, "memory", 0},
		{"pts/compress-7zip", with("test", "compression rating"), "phoronix-compress-7zip", 0},
		{"pts/compress-7zip", none, "", 0},
		{"vllm:tokens", none, "", 0},
	} {
		s, i := Find(tc.name, tc.setting)
		switch {
		case tc.suite == "" && s != nil:
			t.Errorf("%s is in %s", tc.name, s.Name)
		case tc.suite != "" && (s == nil || s.Name != tc.suite || i != tc.test):
			t.Errorf("%s is test %d of %+v, want %d of %s", tc.name, i, s, tc.test, tc.suite)
		}
	}
}

func TestComparable(t *testing.T) {
	for _, tc := range []struct {
		parts         int
		version, want string
	}{
		{0, "0.17.08", "0.17.08"}, {1, "6.3.0", "6"}, {2, "Redis server v=7.4.0 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64", "7.4"}, {2, "7", "7"}, {1, "", ""}, {1, "beta", ""},
	} {
		if got := (&Suite{Parts: tc.parts}).Comparable(tc.version); got != tc.want {
			t.Errorf("%d parts of %q: %q, want %q", tc.parts, tc.version, got, tc.want)
		}
	}
}
