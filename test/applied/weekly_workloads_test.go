package applied

import (
	"fmt"
	"hash/fnv"
	"math"
	"time"
)

// nodeTypes are the types of nodes, and how fast they are.
var nodeTypes = map[string]float64{"n2d": 1, "n4": 1.25, "c3": 1.5}

const nodeTypeLabel = "cloud.google.com/machine-family"

// habit is a kind of workload, and what its containers use as time passes.
type habit struct {
	name string
	// resources are what the author of the container app wrote, and more are further containers.
	resources, more string
	// uses returns which share of cores and of memory the container app uses.
	uses func(m moment) (cpu, memory float64)
	// cores and memory are what it uses a share of, in cores and MiB.
	cores, memory float64
}

// habits are run in turn.
var habits = []habit{
	{"steady", "{requests: {cpu: '1', memory: 1Gi}, limits: {cpu: '2', memory: 2Gi}}", "", func(m moment) (float64, float64) {
		return 1 + m.noise(0.2), 1 + m.noise(0.1)
	}, 0.35, 300},
	{"guaranteed", "{requests: {cpu: '1', memory: 1Gi}, limits: {cpu: '1', memory: 1Gi}}", "", func(m moment) (float64, float64) {
		return 1 + m.noise(0.2), 1 + m.noise(0.1)
	}, 0.3, 350},
	{"daily", "{requests: {cpu: '1', memory: 768Mi}, limits: {memory: 2Gi}}", "", func(m moment) (float64, float64) {
		return (0.3 + 0.7*m.wave()) * (1 + m.noise(0.2)), (0.7 + 0.3*m.wave()) * (1 + m.noise(0.1))
	}, 0.7, 400},
	{"guaranteed-daily", "{requests: {cpu: '2', memory: 1Gi}, limits: {cpu: '2', memory: 1Gi}}", "", func(m moment) (float64, float64) {
		return (0.3 + 0.7*m.wave()) * (1 + m.noise(0.2)), (0.7 + 0.3*m.wave()) * (1 + m.noise(0.1))
	}, 0.6, 450},
	{"spiky", "{requests: {cpu: '1', memory: 512Mi}, limits: {cpu: '4', memory: 2Gi}}", "", func(m moment) (float64, float64) {
		if m.chance(1) < 0.03 {
			return 3 * (1 + m.noise(0.2)), 1.6
		}
		return 0.6 * (1 + m.noise(0.4)), 1 + m.noise(0.2)
	}, 0.4, 200},
	{"leaking", "{requests: {cpu: 500m, memory: 512Mi}, limits: {memory: 2Gi}}", "", func(m moment) (float64, float64) {
		// It begins again every two days.
		return 1 + m.noise(0.2), 1 + math.Mod(m.day, 2)
	}, 0.2, 150},
	{"small", "{requests: {cpu: 100m, memory: 64Mi}, limits: {cpu: '2', memory: 1Gi}}", "", func(m moment) (float64, float64) {
		return 1 + m.noise(0.2), 1 + m.noise(0.1)
	}, 0.25, 120},
	{"pair", "{requests: {cpu: 500m, memory: 256Mi}}", ", {name: proxy, image: none, resources: " + proxy + "}", func(m moment) (float64, float64) {
		return (0.5 + 0.5*m.wave()) * (1 + m.noise(0.2)), 1 + m.noise(0.1)
	}, 0.3, 140},
	{"growing", "{requests: {cpu: 500m, memory: 512Mi}, limits: {memory: 2Gi}}", "", func(m moment) (float64, float64) {
		return (1 + 0.03*m.day) * (1 + m.noise(0.2)), (1 + 0.02*m.day) * (1 + m.noise(0.1))
	}, 0.25, 200},
}

// weekly is a workload whose pods run on nodes of all types.
type weekly struct {
	habit
	name string
	// size multiplies what the container app uses.
	size float64
}

// weeklyOf returns this many workloads of all habits in turn. No two of them use the same.
func weeklyOf(n int) (all []weekly) {
	for i := range n {
		h := habits[i%len(habits)]
		all = append(all, weekly{h, fmt.Sprintf("%s-%d", h.name, i), 1 - 0.07*float64(i/len(habits))})
	}
	return all
}

// manifest returns the manifest of the workload, with as many pods on nodes of each type.
func (w *weekly) manifest(each int) string {
	return fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s, namespace: %[2]s}
spec:
  replicas: %[3]d
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec:
      topologySpreadConstraints:
      - {maxSkew: 1, topologyKey: %[4]s, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: %[1]s}}}
      containers: [{name: app, image: none, resources: %[5]s}%[6]s]
`, w.name, namespace, each*len(nodeTypes), nodeTypeLabel, w.resources, w.more)
}

// seat is the place of a pod, which an equal pod has in every world.
type seat struct {
	workload, nodeType string
	index              int
}

func (s seat) String() string { return fmt.Sprintf("%s/%s/%d", s.workload, s.nodeType, s.index) }

// moment is a time in the life of a pod.
type moment struct {
	seat
	// day is how many days have passed.
	day float64
}

// wave is 0 in the night and 1 at noon.
func (m moment) wave() float64 { return 0.5 - 0.5*math.Cos(2*math.Pi*m.day) }

// chance returns a number from 0 to 1, the same in every world.
func (m moment) chance(of int) float64 {
	h := fnv.New64a()
	fmt.Fprint(h, m.seat, math.Round(m.day*24*60), of)
	return float64(h.Sum64()>>11) / (1 << 53)
}

// noise returns a number within ± amount.
func (m moment) noise(amount float64) float64 {
	return amount * (2*m.chance(int(1000*amount)) - 1)
}

// used is what a container would use in an interval without limits.
type used struct {
	cores  float64
	memory int64
}

// uses returns what a container uses that runs as fast as its node.
func (w *weekly) uses(s seat, container string, since time.Duration) used {
	if container != "app" {
		return used{0.004, 12 << 20}
	}
	cpu, memory := w.habit.uses(moment{s, since.Hours() / 24})
	return used{w.size * w.cores * cpu / nodeTypes[s.nodeType], int64(w.size * w.memory * memory * (1 << 20))}
}
