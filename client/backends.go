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

// portName is the port of the Service that serves the API, where it has several.
const portName = "grpc"

// backend is a ready pod behind the Service, and the pod's own port.
type backend struct {
	pod  string
	port int32
}

// backends returns the ready pods behind the Service, at least one.
func (f *forwarder) backends(ctx context.Context) ([]backend, error) {
	list, err := f.slices.EndpointSlices(f.service.Namespace).List(ctx, metav1.ListOptions{
		LabelSelector: labels.Set{discoveryv1.LabelServiceName: f.service.Name}.String(),
	})
	if err != nil {
		return nil, fmt.Errorf("find the pods behind Service %s: %w", f.service, err)
	}
	backends := readyPods(list.Items)
	if len(backends) == 0 {
		return nil, fmt.Errorf("no ready pod is behind Service %s: see \"kubectl -n %s get services,pods\"", f.service, f.service.Namespace)
	}
	return backends, nil
}

// readyPods returns each pod once, though a Service of two address families has
// it in two slices.
func readyPods(slices []discoveryv1.EndpointSlice) []backend {
	var backends []backend
	known := map[string]bool{}
	for _, slice := range slices {
		port, found := portOf(slice.Ports)
		if !found {
			continue
		}
		for _, endpoint := range slice.Endpoints {
			target := endpoint.TargetRef
			// By the API, what is not told is ready.
			ready := endpoint.Conditions.Ready == nil || *endpoint.Conditions.Ready
			if !ready || target == nil || target.Kind != "Pod" || known[target.Name] {
				continue
			}
			known[target.Name] = true
			backends = append(backends, backend{pod: target.Name, port: port})
		}
	}
	return backends
}

// portOf returns the only port, or of several the one that is named for the API.
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

// leastRecent returns the backends in any order, with the last pod at the end.
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
