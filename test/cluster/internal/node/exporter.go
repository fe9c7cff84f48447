package node

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"

	cadvisormetrics "github.com/google/cadvisor/container"
	cadvisorapi "github.com/google/cadvisor/info/v1"
	cadvisorapiv2 "github.com/google/cadvisor/info/v2"
	"github.com/google/cadvisor/metrics"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/klog/v2"
	kubelettypes "k8s.io/kubelet/pkg/types"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/utils/clock"
)

// startExporter serves what the kubelet of a real node serves at /metrics/cadvisor, until the
// context ends. The kubelet here leaves pressure out if the real machine has no cgroups v2. The
// metrics are written by cAdvisor itself, with the kubelet's labels.
func startExporter(ctx context.Context, machine *machine, config *tls.Config) error {
	registry, err := newRegistry(machine)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics/cadvisor", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))

	listener, err := net.Listen("tcp4", net.JoinHostPort(loopback, strconv.Itoa(machine.node.ExporterPort)))
	if err != nil {
		return fmt.Errorf("listen for scrapes: %w", err)
	}
	server := &http.Server{Handler: mux, TLSConfig: config}
	context.AfterFunc(ctx, func() { server.Close() })
	go func() {
		if err := server.ServeTLS(listener, "", ""); !errors.Is(err, http.ErrServerClosed) {
			klog.ErrorS(err, "Metrics are no longer served")
		}
	}()
	return nil
}

// newRegistry returns the metrics of the machine and its cgroups. As on a real node, the number
// of a container's OOM events ends with its cgroup, at the first event.
func newRegistry(machine *machine) (*prometheus.Registry, error) {
	included := cadvisormetrics.MetricSet{cadvisormetrics.CpuUsageMetrics: {}, cadvisormetrics.MemoryUsageMetrics: {}, cadvisormetrics.OOMMetrics: {}}
	if utilfeature.DefaultFeatureGate.Enabled(features.KubeletPSI) {
		included[cadvisormetrics.PressureMetrics] = struct{}{}
	}
	registry := prometheus.NewRegistry()
	for _, collector := range []prometheus.Collector{
		metrics.NewPrometheusMachineCollector(exported{advisor{machine}}, included),
		metrics.NewPrometheusCollector(exported{advisor{machine}}, machine.metricLabels, included, clock.RealClock{}, cadvisorapiv2.RequestOptions{}),
	} {
		if err := registry.Register(collector); err != nil {
			return nil, fmt.Errorf("register the metrics of cAdvisor: %w", err)
		}
	}
	return registry, nil
}

// exported presents the machine as cAdvisor's collector wants it.
type exported struct{ advisor }

// GetVersionInfo returns the versions of the machine's software.
func (e exported) GetVersionInfo() (*cadvisorapi.VersionInfo, error) { return e.VersionInfo() }

// GetMachineInfo describes the machine's size.
func (e exported) GetMachineInfo() (*cadvisorapi.MachineInfo, error) { return e.MachineInfo() }

// metricLabels returns the labels that the kubelet gives to cAdvisor's metrics. Those of a pod's
// cgroup name the pod.
func (m *machine) metricLabels(info *cadvisorapi.ContainerInfo) map[string]string {
	labels := info.Spec.Labels
	if labels == nil {
		labels = m.podLabels(info.Name)
	}
	var name string
	if len(info.Aliases) > 0 {
		name = info.Aliases[0]
	}
	return map[string]string{
		metrics.LabelID:    info.Name,
		metrics.LabelName:  name,
		metrics.LabelImage: info.Spec.Image,
		"namespace":        labels[kubelettypes.KubernetesPodNamespaceLabel],
		"pod":              labels[kubelettypes.KubernetesPodNameLabel],
		"container":        labels[kubelettypes.KubernetesContainerNameLabel],
	}
}

// podLabels returns the labels of the sandbox of the pod that has a cgroup, or nil.
func (m *machine) podLabels(cgroup string) map[string]string {
	isPod, uid := podCgroups{m}.IsPodCgroup(cgroup)
	if !isPod {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, sandbox := range m.sandboxes {
		if uidOf(sandbox.status.Labels) == uid {
			return sandbox.status.Labels
		}
	}
	return nil
}
