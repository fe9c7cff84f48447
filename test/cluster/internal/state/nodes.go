package state

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	kubeletapis "k8s.io/kubelet/pkg/apis"
)

// Node is one simulated machine.
type Node struct {
	Name string `json:"name"`
	// Type is the value of the node's type label; empty means no such label.
	Type string `json:"type,omitempty"`
	// Index numbers the nodes in a cluster from 0.
	Index int `json:"index"`
	// CPUManager is the policy of the kubelet's CPU manager; empty means the default.
	CPUManager string `json:"cpuManager,omitempty"`
	// KubeletVersion is the version that the kubelet emulates; empty means its own.
	KubeletVersion string `json:"kubeletVersion,omitempty"`
	// Speed is how fast its cores are, compared with those for which work is declared; 0 means
	// equally fast.
	Speed float64 `json:"speed,omitempty"`
	// Taint is the key of a taint that keeps pods out, with which the kubelet registers the node;
	// empty means none.
	Taint string `json:"taint,omitempty"`
	// KubeletPort is the port of its kubelet on 127.0.0.1; 0 until the cluster comes up.
	KubeletPort int `json:"kubeletPort,omitempty"`
	// ExporterPort is the same for the metrics of cAdvisor.
	ExporterPort int `json:"exporterPort,omitempty"`
}

// PodIP returns the address of the n-th pod of the node (n from 0 to 253). The addresses
// are made up: nothing listens there, but no two pods share one.
func (n Node) PodIP(pod int) string {
	return fmt.Sprintf("10.%d.%d.%d", 128+n.Index/256, n.Index%256, pod+1)
}

// CheckNodeLabel returns an error if nodes cannot have their type in a label with this
// key.
func CheckNodeLabel(key string) error {
	if problems := validation.IsQualifiedName(key); len(problems) > 0 {
		return errors.New(problems[0])
	}
	switch key {
	case corev1.LabelHostname, corev1.LabelOSStable, corev1.LabelArchStable, kubeletapis.LabelOS, kubeletapis.LabelArch:
		// The scheduler and controllers rely on the values that the kubelet sets.
		return errors.New("the kubelet sets this label itself; choose another key")
	}
	// The API server does not let kubelets set these labels on their nodes.
	if isKubernetesLabel(key) && !kubeletapis.IsKubeletLabel(key) {
		return fmt.Errorf("a kubelet may not set this label; choose a key outside kubernetes.io and k8s.io, below %s, or one of %s",
			strings.Join(kubeletapis.KubeletLabelNamespaces(), " or "),
			strings.Join([]string{corev1.LabelInstanceTypeStable, corev1.LabelTopologyZone, corev1.LabelTopologyRegion}, ", "))
	}
	return nil
}

func isKubernetesLabel(key string) bool {
	prefix, _, found := strings.Cut(key, "/")
	return found && (strings.HasSuffix("."+prefix, ".kubernetes.io") || strings.HasSuffix("."+prefix, ".k8s.io"))
}
