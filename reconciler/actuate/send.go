package actuate

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
)

// AcceptMetadata is an Accept header that requests only an object's metadata, in the
// encodings that clients of the API server support.
const AcceptMetadata = runtime.ContentTypeProtobuf + ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1," +
	runtime.ContentTypeJSON + ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1," + runtime.ContentTypeJSON

// send sends a patch and returns the resulting pod. For a resize it returns the whole pod,
// because callers check its sizes. For other writes it returns only the metadata, so that
// neither side encodes or decodes unused fields.
func (a *Actuator) send(ctx context.Context, p *plan.Plan, s plan.Step, kind types.PatchType, body []byte, dryRun []string, subresources ...string) (*corev1.Pod, error) {
	request := a.Client.CoreV1().RESTClient().Patch(kind).
		Namespace(p.Pod.Namespace).Resource("pods").Name(p.Pod.Name).SubResource(subresources...).
		VersionedParams(&metav1.PatchOptions{FieldManager: contract.FieldManager, DryRun: dryRun}, scheme.ParameterCodec).
		Body(body)
	pod := &corev1.Pod{}
	if s.Resizes() {
		return pod, request.Do(ctx).Into(pod)
	}
	answer := &metav1.PartialObjectMetadata{}
	err := request.SetHeader("Accept", AcceptMetadata).Do(ctx).Into(answer)
	pod.ObjectMeta = answer.ObjectMeta
	return pod, err
}
