package plans

import (
	"time"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/server/values"
)

// progressPeriod is how often a stream of plans sends its progress.
const progressPeriod = time.Second

// progress determines when a stream of plans sends its progress.
type progress struct {
	total int
	now   func() time.Time
	last  time.Time
}

func newProgress(total int, now func() time.Time) *progress {
	return &progress{total, now, now()}
}

// due reports whether it is time to send the progress again.
func (p *progress) due() bool {
	now := p.now()
	if now.Sub(p.last) < progressPeriod {
		return false
	}
	p.last = now
	return true
}

func (p *progress) message(done int) *workloadresizerv1.PreviewPlansResponse {
	return &workloadresizerv1.PreviewPlansResponse{Result: &workloadresizerv1.PreviewPlansResponse_Progress{
		Progress: &workloadresizerv1.PlanProgress{Done: int64(done), Total: int64(p.total)},
	}}
}

// summary sums up plans.
type summary struct {
	pods int
	// decisions counts plans by plan.Decision.
	decisions [plan.Resize + 1]int64
	codes     map[string]int64
	// cpu and memory are the changes in the sum of requests, in millicores and bytes.
	cpu, memory int64
	// hidden means that there may be pods in namespaces that the caller cannot see.
	hidden bool
}

func newSummary() *summary { return &summary{codes: map[string]int64{}} }

func (s *summary) add(p *plan.Plan) {
	s.pods++
	s.decisions[p.Decision]++
	if p.Decision != plan.Resize && len(p.Reasons) > 0 {
		s.codes[string(p.Reasons[0].Code)]++
	}
	for i := range p.Containers {
		c := &p.Containers[i]
		s.cpu += c.Desired.CPU.Request - c.Current.CPU.Request
		s.memory += c.Desired.Memory.Request - c.Current.Memory.Request
	}
}

func (s *summary) message() *workloadresizerv1.PlanSummary {
	return &workloadresizerv1.PlanSummary{
		Pods:    int64(s.pods),
		Resize:  s.decisions[plan.Resize],
		Aligned: s.decisions[plan.Align],
		Skip:    s.decisions[plan.Skip],
		Codes:   s.codes,

		RequestDelta: values.Quantities(s.cpu, s.memory),

		Incomplete: s.hidden,
	}
}
