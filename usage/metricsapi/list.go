package metricsapi

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	metrics "k8s.io/metrics/pkg/apis/metrics/v1beta1"
)

const (
	// magic begins the protobuf of Kubernetes. A runtime.Unknown follows it.
	magic = "k8s\x00"
	// rawField is the field of a runtime.Unknown that has the object, and itemsField that of a
	// PodMetricsList that has an item.
	rawField, itemsField = 2, 2
	// mostOfItem is how many bytes an item has at most. A pod has at most a few thousand containers.
	mostOfItem = 16 << 20
)

// readList passes each pod of a PodMetricsList, as protobuf or JSON, to visit. Of protobuf, only one pod is
// in memory at a time: decoded, the list of a large namespace takes 40 MB. After an error, pods may be missing.
func readList(from io.Reader, visit func(*metrics.PodMetrics)) error {
	r := bufio.NewReaderSize(from, 64<<10)
	if begin, _ := r.Peek(len(magic)); !bytes.Equal(begin, []byte(magic)) {
		var list metrics.PodMetricsList
		if err := json.NewDecoder(r).Decode(&list); err != nil {
			return fmt.Errorf("neither protobuf of Kubernetes nor JSON: %w", err)
		}
		for i := range list.Items {
			visit(&list.Items[i])
		}
		return nil
	}
	if _, err := r.Discard(len(magic)); err != nil {
		return err
	}
	var buffer []byte
	found, unknown := false, message{r, untilEnd}
	err := unknown.fields(rawField, func(length int64) error {
		found = true
		list := message{r, length}
		return list.fields(itemsField, func(length int64) error {
			if length > mostOfItem {
				return fmt.Errorf("an item of %d bytes is too large", length)
			}
			buffer = slices.Grow(buffer[:0], int(length))[:length]
			if _, err := io.ReadFull(r, buffer); err != nil {
				return err
			}
			var pod metrics.PodMetrics
			if err := pod.Unmarshal(buffer); err != nil {
				return err
			}
			visit(&pod)
			return nil
		})
	})
	if err == nil && !found {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// untilEnd is the length of a message that ends where the stream does.
const untilEnd = math.MaxInt64

// message reads a protobuf message of which this many bytes are left.
type message struct {
	from *bufio.Reader
	left int64
}

// ReadByte implements io.ByteReader.
func (m *message) ReadByte() (byte, error) {
	if m.left == 0 {
		return 0, io.EOF
	}
	b, err := m.from.ReadByte()
	if err == nil {
		m.left--
	}
	return b, err
}

// fields passes the length of each field with a number to take, which must read as many bytes. It skips all
// other fields.
func (m *message) fields(number uint64, take func(length int64) error) error {
	open := m.left == untilEnd
	for {
		tag, err := binary.ReadUvarint(m)
		if errors.Is(err, io.EOF) && (m.left == 0 || open) {
			return nil
		}
		var length uint64
		if err == nil {
			length, err = binary.ReadUvarint(m)
		}
		const varint, delimited = 0, 2 // The wire types that these messages have.
		switch {
		case errors.Is(err, io.EOF):
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		case tag&7 == varint:
			continue // Its value has been read.
		case tag&7 != delimited || length > uint64(m.left):
			return fmt.Errorf("invalid protobuf: field %d has wire type %d and length %d", tag>>3, tag&7, length)
		}
		m.left -= int64(length)
		if tag>>3 == number {
			err = take(int64(length))
		} else {
			_, err = io.CopyN(io.Discard, m.from, int64(length))
		}
		if errors.Is(err, io.EOF) {
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
	}
}
