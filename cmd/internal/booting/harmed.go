package booting

// missed takes the error of opening a file that was staged. A store believes what it
// read of its folder until an image is staged or removed; so where a file is gone or
// cut, it looks again, and the image is not offered from then on: its machines are
// told nothing, with a reason, and the control plane hears what is staged.
func (d *Desk) missed(err error) error {
	if err == nil {
		return nil
	}
	_ = d.store.Refresh() // where it fails, what was known stays
	if changed, _ := d.Restage(); changed {
		d.tell()
	}
	return err
}
