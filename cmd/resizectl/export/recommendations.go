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
	"sigs.k8s.io/yaml"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/export/size"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
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
	return o.workloads(all), err
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
func (o *options) workloads(all []*workloadresizerv1.Recommendation) (found []*workload) {
	type key struct{ namespace, kind, name string }
	known := map[key]*workload{}
	for _, r := range all {
		k := key{r.GetNamespace(), r.GetWorkload().GetKind(), r.GetWorkload().GetName()}
		if r.GetBaseline() == nil || o.namespace != "" && k.namespace != o.namespace {
			continue
		}
		w := known[k]
		if w == nil {
			w = &workload{k.namespace, k.kind, k.name, map[string]*recommended{}}
			known[k] = w
			found = append(found, w)
		}
		c := &recommended{needs: needsOf(r), rule: r.GetRule()}
		if before := w.containers[r.GetContainer()]; before != nil && !alike(before, c) {
			c.conflict = fmt.Sprintf("rules recommend different sizes for container %s: %s and %s", r.GetContainer(), ruleName(before.rule), ruleName(c.rule))
		}
		w.containers[r.GetContainer()] = c
	}
	slices.SortFunc(found, func(a, b *workload) int {
		return cmp.Or(strings.Compare(a.namespace, b.namespace), strings.Compare(a.kind, b.kind), strings.Compare(a.name, b.name))
	})
	return found
}

func ruleName(rule string) string { return cmp.Or(rule, "the globals") }

// alike reports whether two recommendations have the same amounts.
func alike(a, b *recommended) bool {
	for i := range a.needs {
		if !size.Same(a.needs[i].Target, b.needs[i].Target) || a.needs[i].Withheld != b.needs[i].Withheld {
			return false
		}
	}
	return a.conflict == ""
}

func needsOf(r *workloadresizerv1.Recommendation) [2]size.Need {
	b := r.GetBaseline()
	keeps := func(may bool, why string) string {
		if may {
			return ""
		}
		return cmp.Or(why, "usage does not show that less is enough")
	}
	days := func(confidence float64) time.Duration {
		return time.Duration(min(confidence, 10_000) * 24 * float64(time.Hour))
	}
	return [2]size.Need{
		{
			Target: b.GetTarget().GetCpu(), LeastRequest: b.GetLeastRequests().GetCpu(), LeastLimit: b.GetLeastLimits().GetCpu(),
			Withheld: r.GetCpuWithheldMessage(), Keeps: keeps(b.GetCpuMayDecrease(), b.GetCpuDecreaseMessage()), History: days(b.GetCpuConfidence()),
		},
		{
			Target: b.GetTarget().GetMemory(), LeastRequest: b.GetLeastRequests().GetMemory(), LeastLimit: b.GetLeastLimits().GetMemory(), Peak: b.GetPeakMemory(),
			Withheld: r.GetMemoryWithheldMessage(), Keeps: keeps(b.GetMemoryMayDecrease(), b.GetMemoryDecreaseMessage()), History: days(b.GetMemoryConfidence()),
		},
	}
}
