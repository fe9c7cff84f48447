package prometheus

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/common/model"

	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

// Given is what the containers of pods were given, and what the pods belong to, by the metrics of
// kube-state-metrics.
type Given struct {
	pods map[object]*podGiven
	// owners has the controllers of ReplicaSets and Jobs.
	owners map[controller]usage.Owner
}

// object is the name of a pod.
type object struct{ namespace, name string }

// controller is the name of a controller.
type controller struct {
	namespace string
	usage.Owner
}

// podGiven is what a pod was given.
type podGiven struct {
	// known means that the pod's owner is known, which may be none.
	known      bool
	owner      usage.Owner
	containers map[string]*recommend.Authored
}

// given is how often Given looks: a pod that lives for less is found, too.
const given = time.Hour

// The queries. Each point covers the hour before it. Sidecars are init containers. Their metrics have names of
// their own, which no regular expression matches, because Google's Managed Service for Prometheus refuses it.
const (
	queryOwner           = `max by (namespace, pod, owner_kind, owner_name, owner_is_controller) (last_over_time(kube_pod_owner{SELECTOR}[1h]))`
	queryReplicaSetOwner = `max by (namespace, replicaset, owner_kind, owner_name) (last_over_time(kube_replicaset_owner{SELECTORowner_is_controller="true"}[1h]))`
	queryJobOwner        = `max by (namespace, job_name, owner_kind, owner_name) (last_over_time(kube_job_owner{SELECTORowner_is_controller="true"}[1h]))`
	queryRequests        = byResource + `(last_over_time(kube_pod_container_resource_requests` + cpuOrMemory + `) or last_over_time(kube_pod_init_container_resource_requests` + cpuOrMemory + `))`
	queryLimits          = byResource + `(last_over_time(kube_pod_container_resource_limits` + cpuOrMemory + `) or last_over_time(kube_pod_init_container_resource_limits` + cpuOrMemory + `))`
	queryContainers      = `max by (namespace, pod, container) (last_over_time(kube_pod_container_info{SELECTOR}[1h]) or last_over_time(kube_pod_init_container_info{SELECTOR}[1h]))`
	byResource           = `max by (namespace, pod, container, resource) `
	cpuOrMemory          = `{SELECTORresource=~"cpu|memory"}[1h]`
)

// ErrNoPods means that Prometheus does not know what pods were given.
var ErrNoPods = errors.New("no metric kube_pod_owner: what containers were given is known only if Prometheus scrapes kube-state-metrics")

// Given reads what containers were given in a time. If it changed, the last amounts count. After
// ErrIncomplete, some of them may be missing.
func (s *Source) Given(ctx context.Context, since, until time.Time) (*Given, error) {
	a := s.begin()
	g := &Given{pods: map[object]*podGiven{}, owners: map[controller]usage.Owner{}}
	reads := []struct {
		query string
		take  func(labels model.Metric, value float64)
	}{
		{queryOwner, g.takePod},
		{queryReplicaSetOwner, func(labels model.Metric, _ float64) { g.takeOwner("ReplicaSet", labels["replicaset"], labels) }},
		{queryJobOwner, func(labels model.Metric, _ float64) { g.takeOwner("Job", labels["job_name"], labels) }},
		{queryRequests, func(labels model.Metric, value float64) {
			g.takeAmount(labels, value, func(a *recommend.Authored) *recommend.Amounts { return &a.Request })
		}},
		{queryLimits, func(labels model.Metric, value float64) {
			g.takeAmount(labels, value, func(a *recommend.Authored) *recommend.Amounts { return &a.Limit })
		}},
		// A container without requests and limits has no other metric, and its pod is not Guaranteed.
		{queryContainers, func(labels model.Metric, _ float64) { g.container(labels) }},
	}
	ranges := split(since.Truncate(given).Add(given), until.Truncate(given).Add(given), given, 24)
	a.queries = len(ranges) * len(reads)
	for _, read := range reads {
		for _, r := range ranges {
			matrix, err := a.matrix(ctx, read.query, r)
			if err != nil {
				return nil, err
			}
			for _, series := range matrix {
				read.take(series.Metric, float64(series.Values[len(series.Values)-1].Value))
			}
		}
	}
	if len(g.pods) == 0 {
		return nil, errors.Join(ErrNoPods, a.incomplete())
	}
	return g, a.incomplete()
}

// pod returns the pod of a series.
func (g *Given) pod(labels model.Metric) *podGiven {
	id := object{string(labels["namespace"]), string(labels["pod"])}
	if g.pods[id] == nil {
		g.pods[id] = &podGiven{containers: map[string]*recommend.Authored{}}
	}
	return g.pods[id]
}

// container returns what the container of a series was given.
func (g *Given) container(labels model.Metric) *recommend.Authored {
	containers, name := g.pod(labels).containers, string(labels["container"])
	if containers[name] == nil {
		containers[name] = &recommend.Authored{}
	}
	return containers[name]
}

// takePod takes an owner of a pod. Of a pod without one, owner_is_controller is not "true".
func (g *Given) takePod(labels model.Metric, _ float64) {
	p := g.pod(labels)
	p.known = true
	if labels["owner_is_controller"] == "true" {
		p.owner = usage.Owner{Kind: string(labels["owner_kind"]), Name: string(labels["owner_name"])}
	}
}

// takeOwner takes the controller of a controller.
func (g *Given) takeOwner(kind string, name model.LabelValue, labels model.Metric) {
	g.owners[controller{string(labels["namespace"]), usage.Owner{Kind: kind, Name: string(name)}}] = usage.Owner{Kind: string(labels["owner_kind"]), Name: string(labels["owner_name"])}
}

// takeAmount takes a request or a limit of a container.
func (g *Given) takeAmount(labels model.Metric, value float64, part func(*recommend.Authored) *recommend.Amounts) {
	amounts := part(g.container(labels))
	if labels["resource"] == "cpu" {
		if millicores, plausible := history.Millicores(value); plausible {
			amounts.CPU = millicores
		}
	} else if bytes, plausible := history.Bytes(value); plausible {
		amounts.Memory = bytes
	}
}

// Of returns the workload of a pod, and what one of its containers was given: nothing, if its
// author wrote no requests and limits. It returns false if the pod is not known.
func (g *Given) Of(namespace, name, container string) (usage.Workload, recommend.Authored, bool) {
	p := g.pods[object{namespace, name}]
	if p == nil || !p.known {
		return usage.Workload{}, recommend.Authored{}, false
	}
	var owners []usage.Owner
	for next, ok := p.owner, p.owner.Kind != ""; ok && len(owners) < 4; next, ok = g.owners[controller{namespace, next}] {
		owners = append(owners, next)
	}
	workload, ok := usage.WorkloadOf(namespace, owners, "")
	if !ok {
		workload = usage.Workload{Namespace: namespace, Kind: "Pod", Name: name}
	}
	var authored recommend.Authored
	if a := p.containers[container]; a != nil {
		authored = *a
	}
	authored.Guaranteed = len(p.containers) > 0
	for _, a := range p.containers {
		authored.Guaranteed = authored.Guaranteed && a.Request == a.Limit && a.Request.CPU > 0 && a.Request.Memory > 0
	}
	return workload, authored, true
}
