package trace

import (
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/usagetest"
)

func TestSource(t *testing.T) {
	usagetest.Run(t, func(t *testing.T) usagetest.Case {
		machines, err := read(valid)
		if err != nil {
			t.Fatal(err)
		}
		sample := func(name string, at int64, resource history.Resource, value int64, length time.Duration) usage.Sample {
			s := usage.Sample{Namespace: "lab", Name: name, Container: "machine"}
			s.Resource, s.At, s.Usage, s.Length = resource, time.Unix(at, 0).UTC(), value, length
			return s
		}
		return usagetest.Case{
			Source: &Source{Namespace: "lab", Machines: machines},
			// The third row of the first machine has the time of the second.
			Want: []usage.Sample{
				sample("1", 1372629804, history.CPU, 30, 0), sample("1", 1372629804, history.Memory, 10240, 0),
				sample("1", 1372630104, history.CPU, 7, 300*time.Second), sample("1", 1372630104, history.Memory, 11776, 0),
				sample("two", 1372629000, history.CPU, 0, 0), sample("two", 1372629000, history.Memory, 5120, 0),
			},
		}
	})
}
