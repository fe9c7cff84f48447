package feed

import (
	"cmp"
	"strings"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/suite"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
)

const (
	// maxSamples is the maximum number of samples of a feed. All published machine types
	// of all clouds together have a tenth of it.
	maxSamples = 50_000
	// maxPerKey is the maximum number of samples of one node or instance type, CPU model,
	// benchmark, version and number of vCPUs. The newest are kept, more than are stored by
	// default.
	maxPerKey = 128
)

// collector counts rows and collects their samples. It keeps a limited number of them, no
// matter how many rows there are.
type collector struct {
	options Options
	result  Result
	// rows are the numbers of rows that the samples are from.
	rows []int
	// kept has the indexes of the samples of each key in the result.
	kept map[sampleKey][]int
	// machines has the scores of suites whose rows are not all read yet.
	machines map[machineKey]*machine
	// servers has the table of servers that the feed itself contains.
	servers Servers
}

type sampleKey struct {
	nodeType, instanceType, cpuModel, benchmark, version string
	vcpus                                                int
	spot                                                 bool
}

func newCollector(o Options) *collector {
	return &collector{
		options: o, result: Result{Reasons: map[Reason]int{}},
		kept: map[sampleKey][]int{}, machines: map[machineKey]*machine{}, servers: Servers{},
	}
}

// wants reports whether a benchmark must be read.
func (c *collector) wants(benchmark string) bool {
	return c.options.Benchmark == "" || c.options.Benchmark == benchmark
}

// suite returns the suite and test of a row, or why it is not used.
func (c *collector) suite(test string, setting func(string) string) (*suite.Suite, int, *Fault) {
	of, i := suite.Find(test, setting)
	switch {
	case of == nil:
		return nil, 0, skip(UnknownBenchmark)
	case of.Weight == 0:
		return nil, 0, skip(NoWeight)
	case !c.wants(of.Name):
		return nil, 0, skip(NotSelected)
	}
	return of, i, nil
}

// tooOld reports whether a sample is older than the oldest that counts.
func (c *collector) tooOld(s *sample.Sample) bool {
	return c.options.MaxAge > 0 && c.options.Now.Sub(s.Time) > c.options.MaxAge
}

// unused counts rows that are not used.
func (c *collector) unused(reason Reason, rows int) {
	if rows == 0 {
		return
	}
	c.result.Reasons[reason] += rows
	if reason.isBad() {
		c.result.Bad += rows
	} else {
		c.result.Skipped += rows
	}
}

// fault counts rows that are not used, and describes what is wrong if they are bad.
func (c *collector) fault(line, rows int, f *Fault) {
	if f.Code == "" {
		f.Code = InvalidValue
		if f.Field == "" {
			f.Code = Unreadable
		}
	}
	c.unused(f.Code, rows)
	if f.Code.isBad() && rows > 0 && len(c.result.Faults) < maxFaults {
		c.result.Faults = append(c.result.Faults, Fault{Line: line, Field: f.Field, Code: f.Code, Reason: f.Reason})
	}
}

// skip returns the fault of a valid row that is not used.
func skip(reason Reason) *Fault { return &Fault{Code: reason} }

// add counts a row that is one sample, or its fault. names maps the fields of a sample to their
// names in the format, where these differ.
func (c *collector) add(line int, s *sample.Sample, fault *Fault, names map[string]string) {
	c.result.Rows++
	if fault == nil {
		fault = c.store(line, 1, s, names)
	}
	if fault != nil {
		c.fault(line, 1, fault)
	}
}

// store keeps the sample of some rows, or returns why it does not.
func (c *collector) store(line, rows int, s *sample.Sample, names map[string]string) *Fault {
	s.Source = cmp.Or(s.Source, c.options.Source)
	if faults := s.Validate(c.options.Now); len(faults) > 0 {
		f := faults[0]
		return &Fault{Field: cmp.Or(names[f.Field], f.Field), Reason: f.Reason}
	}
	if fault := untyped(s, names); fault != nil {
		return fault
	}
	if c.tooOld(s) {
		return skip(TooOld)
	}
	k := sampleKey{s.NodeType, s.InstanceType, s.CPUModel, s.Benchmark, s.Version, s.VCPUs, s.Spot}
	oldest := -1
	for _, i := range c.kept[k] {
		if c.result.Samples[i].ID == s.ID {
			c.replace(i, line, rows, s)
			return nil
		}
		if oldest < 0 || c.result.Samples[i].Time.Before(c.result.Samples[oldest].Time) {
			oldest = i
		}
	}
	switch {
	case len(c.kept[k]) == maxPerKey && !c.result.Samples[oldest].Time.Before(s.Time):
		return skip(Superseded)
	case len(c.kept[k]) == maxPerKey:
		c.replace(oldest, line, rows, s)
		return nil
	case len(c.result.Samples) == maxSamples:
		return &Fault{Code: TooMany, Reason: "is one of more samples than are kept"}
	}
	k.own()
	c.kept[k] = append(c.kept[k], len(c.result.Samples))
	c.result.Samples, c.result.Lines, c.rows = append(c.result.Samples, own(*s)), append(c.result.Lines, line), append(c.rows, rows)
	return nil
}

// untyped returns the fault of a sample whose instance type results in no node type. Nobody would
// see that it does not count if it was rejected only when it is stored.
func untyped(s *sample.Sample, names map[string]string) *Fault {
	if s.NodeType != "" {
		return nil
	}
	if err := sample.CheckNodeType(cmp.Or(nodetype.Family(s.InstanceType), s.InstanceType)); err != nil {
		return &Fault{Field: cmp.Or(names["instanceType"], "instanceType"), Reason: "does not name a node type: " + err.Error()}
	}
	return nil
}

// replace replaces a sample, whose rows are then superseded.
func (c *collector) replace(i, line, rows int, s *sample.Sample) {
	c.unused(Superseded, c.rows[i])
	c.result.Samples[i], c.result.Lines[i], c.rows[i] = own(*s), line, rows
}

// own returns a sample whose strings are not parts of a row, which must not stay in memory.
func own(s sample.Sample) sample.Sample {
	for _, part := range []*string{&s.ID, &s.NodeType, &s.InstanceType, &s.CPUModel, &s.Benchmark, &s.Version, &s.Unit, &s.Machine, &s.Source} {
		*part = strings.Clone(*part)
	}
	return s
}

func (k *sampleKey) own() {
	for _, part := range []*string{&k.nodeType, &k.instanceType, &k.cpuModel, &k.benchmark, &k.version} {
		*part = strings.Clone(*part)
	}
}
