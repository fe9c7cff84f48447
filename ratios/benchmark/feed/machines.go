package feed

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/suite"
)

// machineKey identifies what is combined to one sample: the tests of a suite on one machine.
type machineKey struct{ vendor, name, suite, version, cpuModel string }

func (k machineKey) compare(o machineKey) int {
	return cmp.Or(strings.Compare(k.vendor, o.vendor), strings.Compare(k.name, o.name), strings.Compare(k.suite, o.suite),
		strings.Compare(k.version, o.version), strings.Compare(k.cpuModel, o.cpuModel))
}

// run is one row of a test.
type run struct {
	score float64
	time  time.Time
	// exists distinguishes a run from none.
	exists bool
}

// newer reports whether r replaces another run of the test, in any order of rows.
func (r run) newer(than run) bool {
	return !than.exists || cmp.Or(r.time.Compare(than.time), cmp.Compare(r.score, than.score)) > 0
}

// machine collects the tests of a suite on one machine.
type machine struct {
	tests int
	// line is the line of the first row, and rows the number of rows in runs.
	line, rows int
	// all has a run per test on all vCPUs, and single on one thread.
	all, single []run
	// server describes the machine, if the rows do.
	server Server
	unit   string
}

// row is one row of a feed that names a test of a suite.
type row struct {
	machineKey
	suite *suite.Suite
	test  int
	// single means that one thread ran; otherwise, all vCPUs did.
	single bool
	run    run
	server Server
	unit   string
}

// maxName is the maximum length of what rows call machines, versions and the like, in bytes. No sample
// may be that long, and while a feed is read, all of these names are in memory.
const maxName = 512

// tooLong returns the fault of a row with too long a name; nil if there is none.
func (r *row) tooLong(names map[string]string) *Fault {
	for _, of := range []struct{ field, value string }{
		{"machine", r.name}, {"vendor", r.vendor}, {"instanceType", r.server.InstanceType}, {"version", r.version}, {"cpuModel", r.cpuModel}, {"unit", r.unit},
	} {
		if fault := tooLong(cmp.Or(names[of.field], of.field), of.value); fault != nil {
			return fault
		}
	}
	return nil
}

// tooLong returns the fault of a field that is too long for a name; nil if it is not.
func tooLong(field, value string) *Fault {
	if len(value) <= maxName {
		return nil
	}
	return &Fault{Field: field, Reason: fmt.Sprintf("must have at most %d bytes, not %d", maxName, len(value))}
}

// take adds a row to its machine, or returns why it does not. names maps the fields of a sample to
// their names in the format, where these differ.
func (c *collector) take(line int, r row, names map[string]string) *Fault {
	if fault := r.tooLong(names); fault != nil {
		return fault
	}
	m := c.machines[r.machineKey]
	if m == nil {
		if len(c.machines) == maxSamples {
			return &Fault{Code: TooMany, Reason: "is about one of more machines than are kept"}
		}
		n := len(r.suite.Tests)
		m = &machine{tests: n, line: line, all: make([]run, n), single: make([]run, n)}
		c.machines[r.own()] = m
	}
	runs := m.all
	if r.single {
		runs = m.single
	}
	m.server = m.server.or(r.server.own())
	m.unit = cmp.Or(m.unit, strings.Clone(r.unit))
	switch old := runs[r.test]; {
	case !r.run.newer(old):
		return skip(Superseded)
	case old.exists:
		c.unused(Superseded, 1)
		m.rows--
	}
	runs[r.test] = r.run
	m.rows++
	return nil
}

// own returns the key without references to the row.
func (k machineKey) own() machineKey {
	for _, part := range []*string{&k.vendor, &k.name, &k.suite, &k.version, &k.cpuModel} {
		*part = strings.Clone(*part)
	}
	return k
}

// finish turns machines into samples. The prefix makes IDs of different formats differ.
func (c *collector) finish(prefix string, names map[string]string) {
	for _, k := range slices.SortedFunc(maps.Keys(c.machines), machineKey.compare) {
		m := c.machines[k]
		fault := c.finishMachine(prefix, k, m, names)
		if fault != nil {
			c.fault(m.line, m.rows, fault)
		}
	}
}

func (c *collector) finishMachine(prefix string, k machineKey, m *machine, names map[string]string) *Fault {
	score, oldest, complete := mean(m.all)
	if !complete {
		return skip(Incomplete)
	}
	server, fault := c.server(k, m.server, names)
	if fault != nil {
		return fault
	}
	single, since, hasSingle := mean(m.single)
	if hasSingle && since.Before(oldest) {
		oldest = since
	}
	s := &sample.Sample{
		ID:           digest(prefix, k.vendor, k.name, k.suite, k.version, k.cpuModel, c.timeInID(oldest), number(score), number(single)),
		InstanceType: server.InstanceType, CPUModel: k.cpuModel, Benchmark: k.suite, Version: k.version,
		Score: score, Unit: m.unit, VCPUs: server.VCPUs, Threads: server.VCPUs, ThreadsPerCore: server.ThreadsPerCore,
		SingleThread: single, Machine: machineName(k), Time: oldest,
	}
	return c.store(m.line, m.rows, s, names)
}

// timeInID returns the time of a measurement for its ID; empty if its rows have no time, so that it
// is the time when they are read. The same figures are then the same measurement, no matter when.
func (c *collector) timeInID(t time.Time) string {
	if t.Equal(c.options.Now) {
		return ""
	}
	return t.Format(time.RFC3339Nano)
}

func machineName(k machineKey) string {
	if k.vendor == "" {
		return k.name
	}
	return k.vendor + "/" + k.name
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// mean returns the geometric mean of the tests and the time of the oldest; false if any is
// missing. A mean is as old as its oldest part.
func mean(runs []run) (score float64, oldest time.Time, complete bool) {
	sum := 0.0
	for i, r := range runs {
		if !r.exists {
			return 0, time.Time{}, false
		}
		sum += math.Log(r.score)
		if i == 0 || r.time.Before(oldest) {
			oldest = r.time
		}
	}
	if len(runs) == 1 {
		return runs[0].score, oldest, true
	}
	// Rounding makes the mean the same in any order of the tests.
	return rounded(math.Exp(sum / float64(len(runs)))), oldest, true
}

// rounded rounds to nine significant digits.
func rounded(f float64) float64 {
	r, err := strconv.ParseFloat(fmt.Sprintf("%.9g", f), 64)
	if err != nil {
		return f
	}
	return r
}
