package settings

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/workload-resizer/workload-resizer/internal/reader"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/estimate"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/feed"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/fetch"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/samples"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/suite"
	"github.com/workload-resizer/workload-resizer/ratios/pace"
)

// line matches the line number in a fault.
var line = regexp.MustCompile(`line \d+: `)

// everything sets every key, and none to its default.
const everything = `
mode: apply
nodeTypes: {n4: {mode: observe}, m7i.large: {mode: apply}}
aggregation: {minMachines: 3, minBenchmarks: 1, tolerancePublished: 0.2, toleranceMeasured: 0.05}
loads: {n4: 0.25, "*": 1}
weights: {coremark: 2, "bench-node:memory-*": 0.5, "*": 0}
changes: {deadBand: 0, windows: 3, maxStepPerHour: 1, min: 0.25, max: 3}
agents: {machines: 12}
feeds:
- {name: a, format: cloud-csv, url: "https://ann:secret@example.com/a?b=c", interval: 90s, benchmark: coremark, vcpus: {m7i.large: 2}}
- {name: b, format: samples, configMap: {name: b.c, key: d.json}}
- {name: c, format: sparecores, url: "http://example.com", insecure: true, servers: {configMap: e, key: f}}
- {name: d, format: geekbench, file: /g, instanceType: h}
`

func TestParseReadsEverything(t *testing.T) {
	got, err := Parse(everything)
	if err != nil {
		t.Fatal(err)
	}
	weights := suite.Weights()
	maps.DeleteFunc(weights, func(_ string, weight float64) bool { return weight > 0 })
	weights["coremark"], weights["bench-node:memory-*"], weights["*"] = 2, 0.5, 0
	defaults := Defaults()
	age := defaults.Estimate.MaxAgePublished
	want := Settings{
		Default: Apply, Modes: map[string]Mode{"n4": Observe, "m7i.large": Apply},
		Estimate: estimate.Settings{
			MinSamples: 3, MinMachines: 3, MinBenchmarks: 1, TolerancePublished: 0.2, ToleranceMeasured: 0.05, MaxModelSpread: 1.1, OutliersFrom: 5, OutlierDeviations: 3.5,
			MaxAgePublished: age, MaxAgeMeasured: 90 * day, Confidence: 0.95, Prior: defaults.Estimate.Prior,
			Loads: map[string]float64{"n4": 0.25, "*": 1}, Weights: weights,
		},
		Pace:     pace.Settings{DeadBand: 0, Windows: 3, Window: time.Hour, MaxStepPerHour: 1, Min: 0.25, Max: 3},
		Limits:   samples.DefaultLimits,
		Machines: 12,
		Feeds: []fetch.Feed{
			{Name: "a", Format: feed.CloudCSV, Place: fetch.Place{URL: "https://ann:secret@example.com/a?b=c"}, Interval: 90 * time.Second, Benchmark: "coremark", MaxAge: age, VCPUs: map[string]int{"m7i.large": 2}},
			{Name: "b", Format: feed.Samples, Place: fetch.Place{ConfigMap: "b.c", Key: "d.json"}, Interval: time.Hour, MaxAge: age},
			{Name: "c", Format: feed.SpareCores, Place: fetch.Place{URL: "http://example.com"}, Insecure: true, Servers: &fetch.Place{ConfigMap: "e", Key: "f"}, Interval: time.Hour, MaxAge: age},
			{Name: "d", Format: feed.Geekbench, Place: fetch.Place{File: "/g"}, InstanceType: "h", Interval: time.Hour, MaxAge: age},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParse(t *testing.T) {
	t.Run("uses the defaults for unset keys", usesTheDefaultsForUnsetKeys)
	t.Run("accepts every default when it is set explicitly", acceptsEveryDefaultWhenItIsSetExplicitly)
	t.Run("weights of one text do not affect others", weightsOfOneTextDoNotAffectOthers)
	t.Run("a CPU model has the mode of its type unless it is named", aCPUModelHasTheModeOfItsTypeUnlessItIsNamed)
	t.Run("names every fault with its path", namesEveryFaultWithItsPath)
	t.Run("names the line of a fault", namesTheLineOfAFault)
	t.Run("feeds can share values through aliases", feedsCanShareValuesThroughAliases)
	t.Run("does not show an invalid URL", doesNotShowAnInvalidURL)
	t.Run("keeps samples as long as they count", keepsSamplesAsLongAsTheyCount)
}

func usesTheDefaultsForUnsetKeys(t *testing.T) {
	for _, text := range []string{"", "\n", "# nothing\n", "{}", "nodeTypes:\n", "aggregation: {}\nfeeds: []"} {
		got, err := Parse(text)
		got.Modes = nil
		if diff := cmp.Diff(Defaults(), got); diff != "" || err != nil {
			t.Errorf("%q: %v %s", text, err, diff)
		}
	}
}

func acceptsEveryDefaultWhenItIsSetExplicitly(t *testing.T) {
	var b strings.Builder
	for _, k := range keys {
		section, name, nested := strings.Cut(k.name, ".")
		if nested && !k.isGone() {
			// Flow mappings cannot be continued, so each is its own document.
			text := fmt.Sprintf("%s: {%s: %s}", section, name, k.standard)
			got, err := Parse(text)
			if diff := cmp.Diff(Defaults(), got); diff != "" || err != nil {
				t.Errorf("%s: %v %s", text, err, diff)
			}
			b.WriteString(text)
		}
	}
	if b.Len() == 0 {
		t.Error("no key has a default")
	}
}

func weightsOfOneTextDoNotAffectOthers(t *testing.T) {
	if _, err := Parse("weights: {coremark: 3}"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(estimate.Defaults(), Defaults().Estimate); diff != "" {
		t.Error(diff)
	}
}

func aCPUModelHasTheModeOfItsTypeUnlessItIsNamed(t *testing.T) {
	s := Settings{Default: Observe, Modes: map[string]Mode{"n4": Apply, "n4@Intel-6-207": Observe, "e2@Intel-6-79": Apply}}
	for nodeType, want := range map[string]Mode{
		"n4": Apply, "n4@AMD-25-1": Apply, "n4@Intel-6-207": Observe, "e2": Observe, "e2@Intel-6-79": Apply, "e2@AMD-25-1": Observe, "c3": Observe,
	} {
		if got := s.Mode(nodeType); got != want {
			t.Errorf("%s has mode %s, want %s", nodeType, got, want)
		}
	}
	if got := new(Settings).Mode("n4"); got != Observe {
		t.Errorf("empty settings have mode %q", got)
	}
}

func namesEveryFaultWithItsPath(t *testing.T) {
	feeds := func(rest string) string { return "feeds: [{name: a, format: samples, " + rest + "}]" }
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"not YAML":                        {"a: [", []string{"read YAML: "}},
		"a second document":               {"mode: apply\n---\nmode: apply", []string{"must be one YAML document"}},
		"a key that is set twice":         {"mode: apply\nmode: apply", []string{"mode: set twice"}},
		"not a mapping":                   {"- a", []string{"must be a mapping, not a list"}},
		"unknown keys":                    {"modes: apply\nchanges: {band: 1}\nfeeds: [{names: a}]", []string{"changes.band: unknown key", "feeds[0].names: unknown key", "modes: unknown key"}},
		"a section's key outside":         {"minSamples: 1\naggregation.minSamples: 2", []string{`["aggregation.minSamples"]: unknown key`, "minSamples: unknown key"}},
		"a section that is not a mapping": {"changes: 3", []string{`changes: must be a mapping, not "3"`}},
		"an unknown mode":                 {"mode: on", []string{`mode: must be observe or apply, not "on"`}},
		"a node type without mode":        {"nodeTypes: {n4: {}, m7i.large: {mode: }}", []string{`nodeTypes["m7i.large"].mode: must be observe or apply, not an empty value`, "nodeTypes.n4.mode: must be set"}},
		"invalid names of node types": {`nodeTypes: {"": {mode: apply}, "a b": {mode: apply}, "a@": {mode: apply}, "@b": {mode: apply}}`, []string{
			`nodeTypes[""]: the name of a node type must not be empty`, `nodeTypes["@b"]: not a valid node type: must have a node type before and a CPU model after "@"`, `nodeTypes["a b"]: not a valid node type: `, `nodeTypes["a@"]: not a valid node type: must have a node type before and a CPU model after "@"`}},
		"numbers out of range": {"aggregation: {minMachines: 0, tolerancePublished: 1.1}\nloads: {n4: 2}\nchanges: {deadBand: -0.1, maxStepPerHour: 0, min: 1.1, max: 0.9}", []string{
			`aggregation.minMachines: must be a whole number from 1 to 1000, not "0"`,
			`aggregation.tolerancePublished: must be a number from 0.001 to 1, not "1.1"`, `loads.n4: must be a number from 0 to 1, not "2"`,
			"changes.deadBand: ", "changes.max: ", "changes.maxStepPerHour: ", "changes.min: "}},
		"values that are not numbers": {"aggregation: {minBenchmarks: 2.5, minMachines: three, tolerancePublished: [1], toleranceMeasured: }", []string{"aggregation.toleranceMeasured: must be a number from 0.001 to 1, not an empty value", `aggregation.minMachines: must be a whole number from 1 to 1000, not "three"`, `aggregation.minBenchmarks: must be a whole number from 1 to 100, not "2.5"`, "aggregation.tolerancePublished: must be a number from 0.001 to 1, not a list"}},
		"quoted numbers":              {`aggregation: {minBenchmarks: "3", minMachines: "2.5"}`, []string{`aggregation.minMachines: must be a whole number from 1 to 1000, not "2.5"`, "aggregation.minBenchmarks: must be a whole number from 1 to 100, not a string: write 3 without quotes"}},
		"not a number":                {"changes: {min: .nan}", []string{`changes.min: must be a number from 0.01 to 1, not ".nan"`}},
		"keys that no longer exist": {"aggregation: {minSamples: 1, maxModelSpread: 1, outliersFrom: 3, outlierDeviations: 3, maxAgePublished: 1h, maxAgeMeasured: 1h, confidence: 0.9, prior: 0}\nchanges: {window: 1s}\nsamples: {perKey: 32}", []string{
			"aggregation.confidence: no longer exists: remove it: the confidence level is 95%; set ", "aggregation.maxAgeMeasured: no longer exists: remove it: measurements of the node agent count for 90 days",
			"aggregation.maxAgePublished: no longer exists: remove it: published scores count for 3 years", "aggregation.maxModelSpread: no longer exists: remove it: ", "aggregation.minSamples: no longer exists: remove it: a benchmark of the node agent needs 3 samples",
			"aggregation.outlierDeviations: no longer exists: remove it: ", "aggregation.outliersFrom: no longer exists: remove it: ", "aggregation.prior: no longer exists: remove it: ",
			"changes.window: no longer exists: remove it: a window is an hour; set changes.windows", "samples.perKey: no longer exists: remove it: the newest 64 samples are kept"}},
		"a URL in the wrong place":      {feeds("file: 'https://ann:secret@example.com'"), []string{"feeds[0].file: must be an absolute path, not a URL: it must begin with /"}},
		"weights":                       {`weights: {coremark: -1, a: b, "": 1, "*a": 1, "b:": 1}`, []string{`weights[""]: must be set`, `weights["*a"]: must be`, `weights["b:"]: must be`, `weights.a: must be a number from 0 to 1000, not "b"`, `weights.coremark: must be a number from 0 to 1000, not "-1"`}},
		"only weights of 0":             {`weights: {"*": 0}`, []string{"weights: none is above 0, so no benchmark would count"}},
		"feeds that are not a list":     {"feeds: {a: b}", []string{"feeds: must be a list, not a mapping"}},
		"an empty feed":                 {"feeds: [{}]", []string{"feeds[0].format: must be set", "feeds[0].name: must be set", "feeds[0]: must have exactly one of file, url and configMap, not 0"}},
		"a feed at two places":          {feeds("file: /a, url: 'https://a'"), []string{"feeds[0]: must have exactly one of file, url and configMap, not 2"}},
		"half a ConfigMap":              {feeds("configMap: {name: a}"), []string{"feeds[0].configMap: name and key must be set"}},
		"invalid names of ConfigMaps":   {feeds("configMap: {name: A_, key: a/b}"), []string{`feeds[0].configMap.key: must be a key of a ConfigMap, not "a/b": `, `feeds[0].configMap.name: must be the name of a ConfigMap, not "A_": `}},
		"a relative file":               {feeds("file: a"), []string{`feeds[0].file: must be an absolute path, not "a": it must begin with /`}},
		"a feed's name":                 {"feeds: [{name: A, format: samples, file: /a}, {name: agent, format: samples, file: /a}]", []string{`feeds[0].name: must be a DNS label, not "A": `, `feeds[1].name: must be a DNS label, not "agent": the name is reserved for samples that are sent through the API`}},
		"two feeds with the same name":  {"feeds: [{name: a, format: samples, file: /a}, {name: a, format: samples, file: /b}]", []string{`feeds[1].name: "a" is the name of another feed`}},
		"an unknown format":             {"feeds: [{name: a, format: csv, file: /a}]", []string{`feeds[0].format: must be perfkit, sparecores, cloud-csv, geekbench, phoronix or samples, not "csv": unknown format`}},
		"an interval too short":         {feeds("file: /a, interval: 59s"), []string{`feeds[0].interval: must be a duration from 1m to 168h`}},
		"cloud-csv without a benchmark": {"feeds: [{name: a, format: cloud-csv, file: /a}]", []string{"feeds[0].benchmark: must be set: the format cloud-csv does not name the benchmark"}},
		"a typo in a benchmark": {"feeds: [{name: a, format: geekbench, file: /a, benchmark: geekbnech}, {name: b, format: perfkit, file: /a, benchmark: sysbench-cpu}]", []string{
			`feeds[0].benchmark: must be a suite that is read from feeds of the format geekbench, not "geekbnech": one of coremark, geekbench,`, `feeds[1].benchmark: must be a suite that is read from feeds of the format perfkit, not "sysbench-cpu": one of `}},
		"an instance type of a feed that names its own": {feeds("file: /a, instanceType: n4"), []string{"feeds[0].instanceType: is only for feeds of the formats geekbench and phoronix"}},
		"an instance type without a node type":          {"feeds: [{name: a, format: geekbench, file: /a, instanceType: n4 standard}]", []string{`feeds[0].instanceType: must be the name of an instance type, not "n4 standard": the node type must be up to 63 letters`}},
		"an invalid benchmark":                          {feeds("file: /a, benchmark: '!'"), []string{`feeds[0].benchmark: must be the name of a benchmark, not "!": must be`}},
		"vCPUs":                                         {feeds("file: /a, vcpus: {m7i.large: 0, a: 1.5}"), []string{`feeds[0].vcpus["m7i.large"]: must be a whole number from 1 to 4096, not "0"`, "feeds[0].vcpus.a: must be"}},
		"too many feeds":                                {"feeds: [" + strings.Repeat("{}, ", 65) + "]", append(slices.Repeat([]string{"feeds["}, 65*3), "feeds: must have at most 64 feeds, not 65")},
		"an unprintable instance type":                  {feeds("file: /a, instanceType: \"a\\tb\""), []string{"feeds[0].instanceType: must be the name of an instance type, not \"a\\tb\": must be printable text"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Parse(tc.text)
			if err == nil {
				t.Fatalf("accepted as %+v", s)
			}
			got := []string{err.Error()}
			if faults, ok := errors.AsType[reader.Faults](err); ok {
				got = got[:0]
				for _, fault := range faults {
					got = append(got, line.ReplaceAllString(fault, ""))
				}
			}
			slices.Sort(got)
			slices.Sort(tc.want)
			if len(got) != len(tc.want) {
				t.Fatalf("faults %q, want %q", got, tc.want)
			}
			for _, want := range tc.want {
				if !slices.ContainsFunc(got, func(f string) bool { return strings.HasPrefix(f, want) }) {
					t.Errorf("no fault of %q begins with %q", got, want)
				}
			}
		})
	}
}

func namesTheLineOfAFault(t *testing.T) {
	_, err := Parse("mode: apply\nchanges:\n  deadBand: 1\nfeeds:\n- name: a\n  file: /a\n")
	if want := `changes.deadBand: line 3: must be a number from 0 to 0.5, not "1"; feeds[0].format: must be set`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func feedsCanShareValuesThroughAliases(t *testing.T) {
	s, err := Parse(`
feeds:
- &ours { name: a, format: samples, interval: 2h, configMap: {name: a, key: b} }
- { <<: *ours, name: b }
`)
	if err != nil || len(s.Feeds) != 2 || s.Feeds[1].Name != "b" || s.Feeds[1].Interval != 2*time.Hour || s.Feeds[1].ConfigMap != "a" {
		t.Errorf("%+v, %v", s.Feeds, err)
	}
}

func doesNotShowAnInvalidURL(t *testing.T) {
	for _, url := range []string{"ftp://ann:secret@example.com", "https://ann:secret@", "http://ann:secret@example.com:port/", "http://ann:secret@a#b", "secret"} {
		_, err := Parse("feeds: [{name: a, format: samples, url: '" + url + "'}]")
		if err == nil || !strings.HasPrefix(err.Error(), "feeds[0].url: line 1: must be an http or https URL") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func keepsSamplesAsLongAsTheyCount(t *testing.T) {
	s := Defaults()
	if counts := max(s.Estimate.MaxAgePublished, s.Estimate.MaxAgeMeasured); s.Limits.MaxAge < counts {
		t.Errorf("samples count for %v, but are kept for %v", counts, s.Limits.MaxAge)
	}
	// Rows without their own time count as of when they were last read, at most a week before.
	if least := 2 * max(fetch.Freshness, 7*day); s.Estimate.MaxAgePublished < least {
		t.Errorf("samples of feeds expire after %v, but are read again after up to %v", s.Estimate.MaxAgePublished, least)
	}
}
