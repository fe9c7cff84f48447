package export

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/durationpb"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"sigs.k8s.io/yaml"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/export/size"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// workload is what is recommended for the containers of a workload.
type workload struct {
	namespace, kind, name string
	containers            map[string]*recommended
}

// String names the workload as other commands do.
func (w *workload) String() string {
	return w.namespace + "/" + print.WorkloadName(&workloadresizerv1.Workload{Kind: w.kind, Name: w.name})
}

// recommended is what is recommended for one container.
type recommended struct {
	// needs is by sizing.Measure.Index.
	needs [2]size.Need
	// rule is what the rule is called.
	rule string
	// conflict is why there is no single recommendation; empty if there is one.
	conflict string
}

// recommendations reads what is recommended, from the saved output of "usage -o json" or from the server.
func (o *options) recommendations(ctx context.Context) ([]*workload, error) {
	var all []*workloadresizerv1.Recommendation
	var err error
	if o.from != "" {
		all, err = o.saved(ctx)
	} else {
		err = o.server.Call(ctx, func(ctx context.Context, c *client.Client) error {
			resp, err := c.ListRecommendations(ctx, &workloadresizerv1.ListRecommendationsRequest{Namespace: o.namespace})
			all = resp.GetRecommendations()
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	return o.workloads(all)
}

// saved reads the file that --from names.
func (o *options) saved(ctx context.Context) (all []*workloadresizerv1.Recommendation, err error) {
	text, err := command.Source(o.from).Read(ctx, o.In)
	if err != nil {
		return nil, err
	}
	var document struct {
		Recommendations []json.RawMessage `json:"recommendations"`
	}
	err = yaml.Unmarshal(text, &document)
	if err != nil || document.Recommendations == nil {
		return nil, fmt.Errorf("%s has no recommendations: save the output of \"resizectl usage -A -o json\"", command.Source(o.from))
	}
	for i, raw := range document.Recommendations {
		r := &workloadresizerv1.Recommendation{}
		if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(raw, r); err != nil {
			return nil, fmt.Errorf("%s: recommendations[%d] is not as \"resizectl usage -o json\" writes it: expected its fields", command.Source(o.from), i)
		}
		all = append(all, r)
	}
	return all, nil
}

// workloads groups recommendations. Those without a size are omitted.
func (o *options) workloads(all []*workloadresizerv1.Recommendation) (found []*workload, err error) {
	type key struct{ namespace, kind, name string }
	known := map[key]*workload{}
	for _, r := range all {
		k := key{r.GetNamespace(), r.GetWorkload().GetKind(), r.GetWorkload().GetName()}
		if r.GetBaseline() == nil || o.namespace != "" && k.namespace != o.namespace {
			continue
		}
		for _, name := range [...]string{k.kind, k.name} { // They are in the names of patches.
			if len(content.IsPathSegmentName(name)) > 0 {
				return nil, fmt.Errorf("a recommendation is for %q, which cannot be the kind or the name of a workload", name)
			}
		}
		w := known[k]
		if w == nil {
			w = &workload{k.namespace, k.kind, k.name, map[string]*recommended{}}
			known[k] = w
			found = append(found, w)
		}
		c := &recommended{needs: o.needsOf(r), rule: r.GetRule()}
		if before := w.containers[r.GetContainer()]; before != nil && !alike(before, c) {
			c.conflict = fmt.Sprintf("rules recommend different sizes for container %s: %s and %s", r.GetContainer(), ruleName(before.rule), ruleName(c.rule))
		}
		w.containers[r.GetContainer()] = c
	}
	slices.SortFunc(found, func(a, b *workload) int {
		return cmp.Or(strings.Compare(a.namespace, b.namespace), strings.Compare(a.kind, b.kind), strings.Compare(a.name, b.name))
	})
	return found, nil
}

func ruleName(rule string) string { return cmp.Or(rule, "the globals") }

// alike reports whether two recommendations have the same amounts.
func alike(a, b *recommended) bool {
	for i := range a.needs {
		x, y := &a.needs[i], &b.needs[i]
		if !size.Same(x.Target, y.Target) || x.Unshared != y.Unshared || x.Withheld != y.Withheld || x.Limits != y.Limits || x.Bounds != y.Bounds || x.MostLimit != y.MostLimit {
			return false
		}
	}
	return a.conflict == ""
}

func (o *options) needsOf(r *workloadresizerv1.Recommendation) [2]size.Need {
	b, rules := r.GetBaseline(), r.GetSizeRules()
	keeps := func(may bool, why string) string {
		if may {
			return ""
		}
		return cmp.Or(why, "usage does not show that less is enough")
	}
	// An older server does not say for how long usage is known. A confidence of 1 is a day at least.
	days := func(known *durationpb.Duration, confidence float64) time.Duration {
		if known != nil || rules != nil {
			return known.AsDuration()
		}
		return time.Duration(min(confidence, 10_000) * 24 * float64(time.Hour))
	}
	limits, least, most, limit := o.limitsOf(rules), rules.GetMinRequests(), rules.GetMaxRequests(), rules.GetMaxLimits()
	return [2]size.Need{
		{
			Target: b.GetTarget().GetCpu(), Unshared: b.GetShared()["cpu"].GetUnshared(), LeastRequest: b.GetLeastRequests().GetCpu(), LeastLimit: b.GetLeastLimits().GetCpu(),
			Withheld: r.GetCpuWithheldMessage(), Keeps: keeps(b.GetCpuMayDecrease(), b.GetCpuDecreaseMessage()), History: days(b.GetCpuKnownDuration(), b.GetCpuConfidence()),
			Limits: limits, Bounds: within(sizing.CPU, least.GetCpu(), most.GetCpu()), MostLimit: amount(sizing.CPU, limit.GetCpu()),
		},
		{
			Target: b.GetTarget().GetMemory(), Unshared: b.GetShared()["memory"].GetUnshared(), LeastRequest: b.GetLeastRequests().GetMemory(), LeastLimit: b.GetLeastLimits().GetMemory(), Peak: b.GetPeakMemory(),
			Withheld: r.GetMemoryWithheldMessage(), Keeps: keeps(b.GetMemoryMayDecrease(), b.GetMemoryDecreaseMessage()), History: days(b.GetMemoryKnownDuration(), b.GetMemoryConfidence()),
			Limits: limits, Bounds: within(sizing.Memory, least.GetMemory(), most.GetMemory()), MostLimit: amount(sizing.Memory, limit.GetMemory()),
		},
	}
}

// limitsOf returns how limits follow: as flags say, or else as the configuration of the pods does.
func (o *options) limitsOf(rules *workloadresizerv1.SizeRules) need.Limits {
	limits := need.Limits{
		CPU:    limitModes[cmp.Or(o.cpu, rules.GetCpuLimit(), "follow")],
		Memory: limitModes[cmp.Or(o.memory, rules.GetMemoryLimit(), "multiple")],
	}
	multiple, headroom := rules.GetMemoryLimitMultiple(), rules.GetMemoryLimitHeadroom()
	if multiple == 0 { // The defaults of the configuration.
		multiple, headroom = 2, cmp.Or(headroom, "250Mi")
	}
	switch limits.Memory {
	case need.Multiple:
		limits.MemoryMultiple, limits.MemoryHeadroom = multiple, amount(sizing.Memory, headroom)
	case need.Peak:
		limits.MemoryMultiple = multiple
	}
	return limits
}

// within returns the bounds of a request.
func within(m *sizing.Measure, least, most string) sizing.Range {
	r := sizing.Range{Min: amount(m, least), Max: amount(m, most)}
	if r.Max > 0 {
		r.Max = max(r.Max, r.Min)
	}
	return r
}

// amount returns an amount of the API; 0 if it is empty, or none.
func amount(m *sizing.Measure, text string) int64 {
	if text == "" {
		return 0
	}
	n, err := m.Parse(text)
	if err != nil {
		return 0
	}
	return max(n, 0)
}
