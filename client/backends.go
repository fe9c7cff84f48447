package client

import (
	"context"
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// portName is the name of the API's port in a Service with several ports.
const portName = "grpc"

// backend is a pod behind the Service, with the pod's own port.
type backend struct {
	pod  string
	port int32
}

// backends returns the pods behind the Service that can answer. Without an error, there
// is at least one.
func (f *forwarder) backends(ctx context.Context) ([]backend, error) {
	list, err := f.slices.EndpointSlices(f.service.Namespace).List(ctx, metav1.ListOptions{
		LabelSelector: labels.Set{discoveryv1.LabelServiceName: f.service.Name}.String(),
	})
	if err != nil {
		return nil, fmt.Errorf("find the pods behind Service %s: %w", f.service, err)
	}
	backends := podsBehind(list.Items)
	if len(backends) == 0 {
		return nil, fmt.Errorf("no running pod is behind Service %s: see \"kubectl -n %s get services,pods\"", f.service, f.service.Namespace)
	}
	return backends, nil
}

// podsBehind returns the ready pods or, if none is ready, the pods that are not: a server
// without ratios is not ready, but its answer says what is wrong.
func podsBehind(slices []discoveryv1.EndpointSlice) []backend {
	if ready := podsThat(isReady, slices); len(ready) > 0 {
		return ready
	}
	return podsThat(isStaying, slices)
}

// isReady reports whether an endpoint is ready. The API defines a missing condition as
// ready.
func isReady(conditions discoveryv1.EndpointConditions) bool {
	return conditions.Ready == nil || *conditions.Ready
}

// isStaying reports whether a pod is not terminating.
func isStaying(conditions discoveryv1.EndpointConditions) bool {
	return conditions.Terminating == nil || !*conditions.Terminating
}

// podsThat returns the pods whose conditions satisfy may. It returns each pod once, although
// a dual-stack Service has it in two slices.
func podsThat(may func(discoveryv1.EndpointConditions) bool, slices []discoveryv1.EndpointSlice) []backend {
	var backends []backend
	known := map[string]bool{}
	for _, slice := range slices {
		port, found := portOf(slice.Ports)
		if !found {
			continue
		}
		for _, endpoint := range slice.Endpoints {
			target := endpoint.TargetRef
			if !may(endpoint.Conditions) || target == nil || target.Kind != "Pod" || known[target.Name] {
				continue
			}
			known[target.Name] = true
			backends = append(backends, backend{pod: target.Name, port: port})
		}
	}
	return backends
}

// portOf returns the only port, or the one named for the API if there are several.
func portOf(ports []discoveryv1.EndpointPort) (int32, bool) {
	for _, port := range ports {
		if port.Port == nil || port.Protocol != nil && *port.Protocol != corev1.ProtocolTCP {
			continue
		}
		if len(ports) == 1 || port.Name != nil && *port.Name == portName {
			return *port.Port, true
		}
	}
	return 0, false
}

// leastRecent returns the backends in random order, except that the pod last comes last.
func leastRecent(backends []backend, last string) []backend {
	rand.Shuffle(len(backends), func(i, j int) { backends[i], backends[j] = backends[j], backends[i] })
	for i, b := range backends {
		if b.pod == last {
			end := len(backends) - 1
			backends[i], backends[end] = backends[end], backends[i]
		}
	}
	return backends
}
