package document

import (
	"context"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
)

// acceptMetadata is an Accept header that requests only the metadata of the result: the
// data is known, and may be large.
const acceptMetadata = runtime.ContentTypeProtobuf + ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1," +
	runtime.ContentTypeJSON + ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"

// dataPatch is a merge patch of the keys that change. The API server refuses it as a
// conflict if the ConfigMap has another version.
type dataPatch struct {
	Metadata struct {
		UID             types.UID `json:"uid"`
		ResourceVersion string    `json:"resourceVersion"`
	} `json:"metadata"`
	Data map[string]*string `json:"data"` // null removes a key.
}

// difference returns the keys to change, and their new values.
func difference(before, after map[string]string) map[string]*string {
	keys := map[string]*string{}
	for key := range before {
		if _, kept := after[key]; !kept {
			keys[key] = nil
		}
	}
	for key, text := range after {
		if was, had := before[key]; !had || was != text {
			keys[key] = &text
		}
	}
	return keys
}

// write changes the data of the ConfigMap, and applies its content.
func (d *Document[T]) write(ctx context.Context, cm *corev1.ConfigMap, data map[string]string) error {
	patch := dataPatch{Data: difference(cm.Data, data)}
	if len(patch.Data) == 0 {
		return nil
	}
	patch.Metadata.UID, patch.Metadata.ResourceVersion = cm.UID, cm.ResourceVersion
	body, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	written := &metav1.PartialObjectMetadata{}
	err = d.Source.Client.CoreV1().RESTClient().Patch(types.MergePatchType).
		Namespace(d.Source.Namespace).Resource("configmaps").Name(d.Source.Name).
		VersionedParams(&metav1.PatchOptions{FieldManager: fieldManager}, scheme.ParameterCodec).
		SetHeader("Accept", acceptMetadata).Body(body).Do(ctx).Into(written)
	if apierrors.IsNotFound(err) {
		return d.missing()
	}
	if err != nil {
		return Failed(d.Source, "write", err)
	}
	d.takeOwn(ctx, &corev1.ConfigMap{ObjectMeta: written.ObjectMeta, Data: data, BinaryData: cm.BinaryData})
	return nil
}
