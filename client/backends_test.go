package client

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
)

func TestBackends(t *testing.T) {
	t.Run("selects the pods behind a Service", selectsThePodsBehindAService)
	t.Run("tries the last pod last", triesTheLastPodLast)
}

func selectsThePodsBehindAService(t *testing.T) {
	port := func(name string, number int32) discoveryv1.EndpointPort {
		return discoveryv1.EndpointPort{Name: &name, Port: &number}
	}
	endpoint := func(kind, name string, ready *bool) discoveryv1.Endpoint {
		return discoveryv1.Endpoint{Conditions: discoveryv1.EndpointConditions{Ready: ready}, TargetRef: &corev1.ObjectReference{Kind: kind, Name: name}}
	}
	yes, no := new(true), new(false)
	ending := func(name string) discoveryv1.Endpoint {
		e := endpoint("Pod", name, no)
		e.Conditions.Serving, e.Conditions.Terminating = yes, yes
		return e
	}
	slice := func(ports []discoveryv1.EndpointPort, endpoints ...discoveryv1.Endpoint) discoveryv1.EndpointSlice {
		return discoveryv1.EndpointSlice{Ports: ports, Endpoints: endpoints}
	}
	only := []discoveryv1.EndpointPort{port("", 7443)}
	for _, tc := range []struct {
		name   string
		slices []discoveryv1.EndpointSlice
		want   []backend
	}{
		{"returns no pods without slices", nil, nil},
		{"returns pods that are ready or whose readiness is unknown", []discoveryv1.EndpointSlice{slice(only, endpoint("Pod", "a", yes), endpoint("Pod", "b", no), endpoint("Pod", "c", nil))}, []backend{{"a", 7443}, {"c", 7443}}},
		{"returns pods that are not ready if none is", []discoveryv1.EndpointSlice{slice(only, endpoint("Pod", "a", no)), slice(only, endpoint("Pod", "b", no))}, []backend{{"a", 7443}, {"b", 7443}}},
		{"skips terminating pods", []discoveryv1.EndpointSlice{slice(only, ending("a"))}, nil},
		{"prefers a ready pod of another slice", []discoveryv1.EndpointSlice{slice(only, endpoint("Pod", "a", no), ending("b")), slice(only, endpoint("Pod", "c", yes))}, []backend{{"c", 7443}}},
		{"skips endpoints that are not pods", []discoveryv1.EndpointSlice{slice(only, endpoint("Node", "a", yes), discoveryv1.Endpoint{})}, nil},
		{"returns a dual-stack pod once", []discoveryv1.EndpointSlice{slice(only, endpoint("Pod", "a", yes)), slice(only, endpoint("Pod", "a", yes))}, []backend{{"a", 7443}}},
		{"selects the port grpc among several", []discoveryv1.EndpointSlice{slice([]discoveryv1.EndpointPort{port("http", 80), port("grpc", 1)}, endpoint("Pod", "a", yes))}, []backend{{"a", 1}}},
		{"selects none of several ports without that name", []discoveryv1.EndpointSlice{slice([]discoveryv1.EndpointPort{port("http", 80), port("other", 1)}, endpoint("Pod", "a", yes))}, nil},
		{"uses the port of each slice", []discoveryv1.EndpointSlice{slice(only, endpoint("Pod", "a", yes)), slice([]discoveryv1.EndpointPort{port("", 1)}, endpoint("Pod", "b", yes))}, []backend{{"a", 7443}, {"b", 1}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, podsBehind(tc.slices), cmp.AllowUnexported(backend{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func triesTheLastPodLast(t *testing.T) {
	for range 100 {
		got := leastRecent([]backend{{"a", 1}, {"b", 1}, {"c", 1}}, "b")
		if len(got) != 3 || got[2].pod != "b" {
			t.Fatalf("got %v", got)
		}
	}
}
