package deploy

import (
	"slices"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestPorts(t *testing.T) {
	t.Run("ports match the container", portsMatchTheContainer)
}

func portsMatchTheContainer(t *testing.T) {
	manifest := built(t, "base", components(t)...)
	container := server(t, manifest).Spec.Containers[0]
	named := map[string]int32{}
	for _, port := range container.Ports {
		named[port.Name] = port.ContainerPort
	}
	for _, flag := range []string{"--grpc-bind-address=:7443", "--http-bind-address=:8080", "--size-at-creation"} {
		if !slices.Contains(container.Args, flag) {
			t.Errorf("the container's arguments are %v, want %s", container.Args, flag)
		}
	}
	// Clients and monitors use these names.
	if named["grpc"] != 7443 || named["http"] != 8080 || named["webhook"] != 9443 || len(named) != 3 {
		t.Errorf("the container's ports are %v", named)
	}
	for probe, path := range map[*corev1.Probe]string{container.LivenessProbe: "/livez", container.ReadinessProbe: "/readyz"} {
		if probe.HTTPGet.Path != path || probe.HTTPGet.Port.StrVal != "http" {
			t.Errorf("the probe of %s is %v", path, probe.HTTPGet)
		}
	}
	service := only[corev1.Service](t, manifest, "Service")
	ports := map[string]int32{}
	for _, port := range service.Spec.Ports {
		ports[port.Name] = port.Port
		if _, has := named[port.TargetPort.StrVal]; !has || port.TargetPort.StrVal != port.Name {
			t.Errorf("port %s of the Service has the target port %s", port.Name, port.TargetPort.String())
		}
	}
	if ports["grpc"] != 443 || ports["http"] != 8080 || ports["webhook"] != 9443 || len(ports) != 3 {
		t.Errorf("the Service's ports are %v", ports)
	}
	// The server adds the path. If manifests had one, applying them would remove the token.
	webhook := only[admissionregistrationv1.MutatingWebhookConfiguration](t, manifest, "MutatingWebhookConfiguration").Webhooks[0]
	if to := webhook.ClientConfig.Service; to.Name != service.Name || to.Namespace != service.Namespace || *to.Port != ports["webhook"] || to.Path != nil {
		t.Errorf("the API server asks at %v", to)
	}
	for _, rule := range only[networkingv1.NetworkPolicy](t, manifest, "NetworkPolicy").Spec.Ingress {
		for _, port := range rule.Ports {
			if _, has := named[port.Port.StrVal]; !has {
				t.Errorf("the NetworkPolicy allows the unknown port %s", port.Port.String())
			}
		}
	}
	endpoints, _, err := unstructured.NestedSlice(single(t, manifest, "ServiceMonitor").Object, "spec", "endpoints")
	if err != nil || len(endpoints) != 1 || endpoints[0].(map[string]any)["port"] != "http" {
		t.Errorf("the ServiceMonitor scrapes %v, %v", endpoints, err)
	}
}
