package trace

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

// measured is a source with samples.
type measured struct {
	samples []usage.Sample
	err     error
}

func (m measured) Name() string { return "measured" }

func (m measured) Read(_ context.Context, _, _ time.Time, observe func(usage.Sample)) error {
	for _, s := range m.samples {
		observe(s)
	}
	return m.err
}

// add adds a sample at a time in minutes. A usage below 0 is not measured.
func (m *measured) add(pod, container string, minute, millicores, bytes int64) {
	s := usage.Sample{Namespace: "shop", Name: pod, Container: container}
	s.At = time.Unix(minute*60, 0)
	if millicores >= 0 {
		s.Resource, s.Usage, s.Pressure, s.Throttled = history.CPU, millicores, 0.5, minute == 1
		m.samples = append(m.samples, s)
	}
	if bytes >= 0 {
		s.Resource, s.Usage, s.Pressure, s.Throttled = history.Memory, bytes, 0, false
		m.samples = append(m.samples, s)
	}
}

// describe gives each pod the part of its name before the dash as workload, and its length as
// request. Pods named lost are not known.
func describe(c Container) (string, recommend.Authored, bool) {
	workload, _, _ := strings.Cut(c.Pod, "-")
	given := recommend.Amounts{CPU: int64(len(c.Pod)), Memory: 1}
	return c.Namespace + "/" + workload + "/" + c.Name, recommend.Authored{Request: given}, workload != "lost"
}

func TestRecord(t *testing.T) {
	record := func(t *testing.T, m measured) []*Machine {
		t.Helper()
		machines, err := Record(t.Context(), m, time.Unix(0, 0), time.Unix(1e6, 0), describe)
		if err != nil {
			t.Fatal(err)
		}
		return machines
	}
	t.Run("has what was measured of both resources", func(t *testing.T) {
		var m measured
		m.add("web-1", "main", 1, 10, 100)
		m.add("web-1", "main", 2, 20, -1)
		m.add("web-1", "main", 3, -1, 300)
		m.add("web-1", "main", 4, 40, 0)
		m.add("idle-1", "main", 4, 40, -1)
		m.add("lost-1", "main", 4, 40, 400)
		machines := record(t, m)
		want := []Row{{At: 60, CPU: 10, Memory: 100, Pressure: 0.5, Throttled: true}, {At: 240, CPU: 40, Pressure: 0.5}}
		if len(machines) != 1 || !slices.Equal(machines[0].Rows, want) {
			t.Fatalf("%d machines, %+v", len(machines), machines)
		}
		if m := machines[0]; m.Name != "shop/web/main-0" || m.Workload != "shop/web/main" || m.Given.Request.CPU != 5 {
			t.Errorf("%+v", m)
		}
	})
	t.Run("continues a machine with the next pod of its workload", func(t *testing.T) {
		var m measured
		m.add("web-1", "main", 1, 1, 1)
		m.add("web-1", "main", 2, 2, 2)
		m.add("web-2", "main", 2, 3, 3) // at the same time: a second replica
		m.add("web-30", "main", 3, 4, 4)
		m.add("web-30", "side", 3, 5, 5)
		m.add("web-4", "main", 3, 6, 6)
		var got []string
		for _, machine := range record(t, m) {
			text := machine.Name
			for _, row := range machine.Rows {
				text += " " + string('0'+rune(row.CPU))
			}
			if machine.Given.Request.CPU == 6 {
				text += " given to web-30"
			}
			got = append(got, text)
		}
		if want := []string{"shop/web/main-0 1 2 4 given to web-30", "shop/web/main-1 3 6", "shop/web/side-0 5 given to web-30"}; !slices.Equal(got, want) {
			t.Errorf("%q\nwant %q", got, want)
		}
	})
	t.Run("returns the error of the source", func(t *testing.T) {
		down := errors.New("down")
		if _, err := Record(t.Context(), measured{err: down}, time.Time{}, time.Time{}, describe); !errors.Is(err, down) || !strings.Contains(err.Error(), "measured") {
			t.Error(err)
		}
	})
}
