package feed

import (
	"strings"
	"testing"
)

func TestName(t *testing.T) {
	t.Run("different parts never have the same name", differentPartsNeverHaveTheSameName)
	t.Run("names of configurations are readable", namesOfConfigurationsAreReadable)
}

func differentPartsNeverHaveTheSameName(t *testing.T) {
	seen := map[string]bool{}
	for _, parts := range [][]string{
		{"a", "b:1"}, {"a", "b:1", "c:2"}, {"a", "b:+"}, {"a", "b:-"}, {"a", "b:1 c:2"}, {"a", "b:ä"}, {"a", "b:ö"}, {"+"}, {"-"},
		{strings.Repeat("x", 200)}, {strings.Repeat("x", 201)}, {"a", strings.Repeat("+", 300)},
	} {
		name := benchmarkName(parts...)
		if seen[name] || name == "" || len(name) > maxName {
			t.Errorf("%q results in the name %q", parts, name)
		}
		seen[name] = true
	}
}

func namesOfConfigurationsAreReadable(t *testing.T) {
	if got := benchmarkName("openssl", "algo:AES-256-CBC", "block_size:16384"); got != "openssl algo:AES-256-CBC block_size:16384" {
		t.Errorf("got %q", got)
	}
}
