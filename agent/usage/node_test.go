package usage

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadNode(t *testing.T) {
	const stat = "cpu  10 0 10\ncpu0 5 0 5\ncpu1 5 0 5\nintr 5\nctxt 9\ncpufreq 1\n"
	const pressure = "some avg10=1.00 avg60=62.50 avg300=0.50 total=12345\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
	for name, tc := range map[string]struct {
		files map[string]string
		want  Node
	}{
		"all":                  {map[string]string{"pressure/cpu": pressure, "loadavg": "5.00 4.00 3.00 2/345 6789\n", "stat": stat}, Node{new(0.625), new(2.5)}},
		"nothing":              {nil, Node{}},
		"without PSI":          {map[string]string{"loadavg": "0.00 4.00 3.00 2/345 6789\n", "stat": stat}, Node{nil, new(0.0)}},
		"without vCPUs":        {map[string]string{"pressure/cpu": pressure, "loadavg": "5.00 4.00 3.00 2/345 6789\n"}, Node{new(0.625), nil}},
		"what is not a number": {map[string]string{"pressure/cpu": "some avg10=1.00 avg60=NaN avg300=0.50 total=1\n", "loadavg": "+Inf 1 1\n", "stat": stat}, Node{}},
		"more than all":        {map[string]string{"pressure/cpu": "some avg10=1.00 avg60=100.50 avg300=0.50 total=1\n"}, Node{new(1.0), nil}},
	} {
		dir := t.TempDir()
		for file, content := range tc.files {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(tc.want, ReadNode(dir)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if n := ReadNode("/proc"); n.Load == nil {
		t.Error("this machine has no load")
	}
}
