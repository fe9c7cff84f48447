package fill

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes/scheme"
)

// storage is the encoding in which the API server stores pods.
var storage = protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)

func decode(value []byte) (*corev1.Pod, error) {
	pod := &corev1.Pod{}
	_, _, err := storage.Decode(value, nil, pod)
	return pod, err
}

func encode(pod *corev1.Pod) ([]byte, error) {
	var value bytes.Buffer
	err := storage.Encode(pod, &value)
	return value.Bytes(), err
}

// copy returns the copy with the given number, with which its name ends. Consecutive
// copies form a workload, and consecutive workloads use the templates in turn.
func (o *Options) copy(templates []*corev1.Pod, number int) *corev1.Pod {
	size := max(o.PerWorkload, 1)
	workload := number / size
	template, round := templates[workload%len(templates)], workload/len(templates)
	pod := template.DeepCopy()
	pod.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
	pod.Namespace, pod.Name, pod.UID = o.Namespace, fmt.Sprintf("%s-%d", template.Name, number), uuid.NewUUID()
	if at := strings.LastIndex(pod.Spec.NodeName, "-"); at >= 0 && o.Nodes > 0 {
		pod.Spec.NodeName = pod.Spec.NodeName[:at+1] + strconv.Itoa((round*size+number%size)%o.Nodes)
	}
	if o.PerWorkload > 0 {
		own(pod, strconv.Itoa(workload))
	}
	return pod
}

// own makes the pod belong to the workload with this hash.
func own(pod *corev1.Pod, hash string) {
	for i := range pod.OwnerReferences {
		owner := &pod.OwnerReferences[i]
		owner.Name += "-" + hash
		owner.UID = types.UID(fmt.Sprintf("%s-%s", owner.UID[:min(len(owner.UID), 23)], fmt.Sprintf("%012s", hash)))
	}
	if _, ok := pod.Labels["pod-template-hash"]; ok {
		pod.Labels["pod-template-hash"] = hash
	}
}
