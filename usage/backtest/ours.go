package backtest

import (
	"strconv"
	"time"

	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

// Recommender is the policy of our recommender.
type Recommender struct {
	// Label is the policy's name in results.
	Label   string
	History history.Options
	Options recommend.Options
	// Mixed ignores the speeds of nodes: the samples of all replicas form one distribution.
	Mixed bool
	// Sharing is how machines on the same node share; nil if they do not. It does not change memory limits.
	Sharing *Sharing
}

// Name implements Policy.
func (r *Recommender) Name() string { return r.Label }

// Sizer implements Policy.
func (r *Recommender) Sizer(_ recommend.Authored, speeds []float64) Sizer {
	s := &sizer{
		recommender: r, container: history.Container{Workload: "machine", Name: container},
		history: history.New(func(history.Container) history.Options { return r.History }),
		speeds:  map[string]recommend.Speed{},
	}
	for i, speed := range speeds {
		pod := history.Pod{UID: strconv.Itoa(i), NodeType: strconv.FormatFloat(speed, 'g', -1, 64)}
		if r.Mixed {
			pod.NodeType, speed = "mixed", 1
		}
		s.pods = append(s.pods, pod)
		s.speeds[pod.NodeType] = recommend.Speed{CPU: speed, Memory: 1}
	}
	s.nodes, s.replicas = newNodes(s.speeds), make([]sized, len(speeds))
	return s
}

type sizer struct {
	recommender *Recommender
	container   history.Container
	history     *history.History
	pods        []history.Pod
	speeds      map[string]recommend.Speed
	nodes       *nodes
	replicas    []sized
}

// speedOf implements recommend.Speeds.
func (s *sizer) speedOf(nodeType string) (recommend.Speed, bool) {
	speed, known := s.speeds[nodeType]
	return speed, known
}

func (s *sizer) Record(replica int, sample Sample) {
	// Samples that the history rejects, such as the second of two rows of the same time, are not known.
	measured := history.Sample{
		Pod: s.pods[replica], Resource: history.CPU, At: sample.At, Usage: sample.CPU, Pressure: sample.Pressure, Throttled: sample.Throttled,
	}
	_ = s.history.Record(s.container, measured, sample.At)
	// A trace knows nothing else, so its samples of memory count as peaks.
	measured = history.Sample{Pod: measured.Pod, Resource: history.Memory, At: sample.At, Usage: sample.Memory, Length: time.Second}
	_ = s.history.Record(s.container, measured, sample.At)
}

func (s *sizer) Kill(replica int, k history.Kill) {
	k.Pod = s.pods[replica]
	_ = s.history.RecordKill(s.container, k, k.At)
}

func (s *sizer) Decide(replica int, p Pod, now time.Time) (request, limit recommend.Amounts, resize bool) {
	options := &s.recommender.Options
	view, ok := s.history.View(s.container, now)
	if !ok {
		return request, limit, false
	}
	recommendation, ok := recommend.For(recommend.NewDemand(view, s.speedOf), 1, options, now)
	if !ok {
		return request, limit, false
	}
	of := &s.replicas[replica]
	of.update(p, s.pods[replica].NodeType, options.Need(&recommendation))
	return s.nodes.plan(of, s.pods[replica].NodeType, now)
}
