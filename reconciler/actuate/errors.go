package actuate

import (
	"errors"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// StoppedError tells that a plan must not be carried out any more. Nothing has
// failed.
type StoppedError struct{ Because string }

func (e *StoppedError) Error() string { return "stopped before a write: " + e.Because }

// RefusedError tells that the API server refuses a resize for a reason that the
// contract names.
type RefusedError struct {
	Reason contract.Reason
	Err    error
}

func (e *RefusedError) Error() string { return e.Err.Error() }
func (e *RefusedError) Unwrap() error { return e.Err }

// UnrecordedError tells that the pod has its sizes, and only the record of what
// was applied is missing.
type UnrecordedError struct{ Err error }

func (e *UnrecordedError) Error() string { return e.Err.Error() }
func (e *UnrecordedError) Unwrap() error { return e.Err }

// MutatedError tells that an admission plugin gave a pod other sizes than were asked for.
type MutatedError struct{}

func (e *MutatedError) Error() string {
	return "resize: an admission plugin gave the pod other sizes than its originals"
}

// BusyError is the answer of a server that asks to be let be for a time.
type BusyError struct {
	Err   error
	Asked time.Duration
}

func (e *BusyError) Error() string { return e.Err.Error() }
func (e *BusyError) Unwrap() error { return e.Err }

// busy adds to an error how long the server asks to be let be, if it does.
func busy(err error, asked time.Duration) error {
	if err == nil || asked == 0 {
		return err
	}
	return &BusyError{Err: err, Asked: asked}
}

// refusal tells the answers to a resize that name a reason of the contract.
func refusal(err error) (contract.Reason, bool) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return "", false
	}
	s := status.Status()
	switch s.Code {
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		// A server without the subresource does not look for the pod: its
		// answer is no object of the API, or names none.
		without := s.Details == nil || s.Details.Name == "" || apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
		return contract.ResizeUnsupported, without
	case http.StatusUnprocessableEntity, http.StatusForbidden:
		return safety.Refusal(s.Message)
	}
	return "", false
}

// Outdated tells the errors that only say that the plan was made from a state
// that has passed.
func Outdated(err error) bool {
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return true
	}
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	for _, cause := range status.Status().Details.Causes {
		if cause.Field == "metadata.uid" {
			return true // The name belongs to another pod now.
		}
	}
	return false
}

// StatusCode is the HTTP status code of an answer; 0 if there was none.
func StatusCode(err error) int {
	var mutated *MutatedError
	if err == nil || errors.As(err, &mutated) {
		return http.StatusOK
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return int(status.Status().Code)
	}
	return 0
}
