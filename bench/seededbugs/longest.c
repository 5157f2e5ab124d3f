struct telemetry {
    unsigned id, sequence, time, flags, battery, checksum;
    int temperature, pressure, altitude, speed, heading, climb, roll, pitch, yaw;
    short x, y, z, gain, offset;
    unsigned char mode, channel, quality, errors, power, reserve;
};

unsigned alarm(int what, int value);

int unpack(struct telemetry *t, const unsigned char *raw, int version)
{
    unsigned status = 0;
    t->id = (unsigned)raw[0] << 24 | raw[1] << 16 | raw[2] << 8 | raw[3];
    //? operand | t->id = (unsigned)raw[0] << 24 | raw[1] << 16 | raw[3] << 8 | raw[3];
    t->sequence = (unsigned)raw[4] << 8 | raw[5];
    t->time = (unsigned)raw[6] << 24 | raw[7] << 16 | raw[8] << 8 | raw[9];
    t->flags = raw[10] & 0x3f;
    //? constant | t->flags = raw[10] & 0x1f;
    t->mode = raw[10] >> 6;
    t->temperature = (signed char)raw[11] * 10;
    //? signedness | t->temperature = raw[11] * 10;
    t->pressure = (raw[12] << 8 | raw[13]) + 300;
    t->altitude = (raw[14] << 8 | raw[15]) - 1000;
    //? constant | t->altitude = (raw[14] << 8 | raw[15]) - 100;
    t->speed = raw[16] * 3 + (raw[17] >> 6);
    t->heading = (raw[17] & 0x3f) << 3 | raw[18] >> 5;
    //? operator | t->heading = (raw[17] & 0x3f) << 3 ^ raw[18] >> 4;
    t->climb = (raw[18] & 0x1f) - 16;
    t->x = (short)(raw[19] << 8 | raw[20]);
    t->y = (short)(raw[21] << 8 | raw[22]);
    //? operand | t->y = (short)(raw[22] << 8 | raw[21]);
    t->z = (short)(raw[23] << 8 | raw[24]);
    t->channel = raw[25] & 15;
    t->quality = raw[25] >> 4;
    t->battery = raw[26] * 50u + 2500u;
    //? operator | t->battery = raw[26] * 50u - 2500u;
    if (t->battery < 3300u)
    //? comparison | if (t->battery <= 3300u)
        status |= alarm(1, (int)t->battery);
    if (t->temperature > 850 || t->temperature < -400)
    //? constant | if (t->temperature > 850 || t->temperature < -300)
        status |= alarm(2, t->temperature);
    if (t->flags & 1) {
        t->roll = t->x - t->y;
        t->pitch = t->y - t->z;
        //? operand | t->pitch = t->y - t->x;
        t->yaw = t->z - t->x;
    } else {
        t->roll = 0;
        t->pitch = 0;
        t->yaw = 0;
        //? missing store | ;
    }
    t->gain = (short)(raw[27] + 1);
    t->offset = (short)((raw[28] << 4) - t->gain);
    if (version > 2) {
        t->errors = raw[29] ^ raw[30];
        //? operator | t->errors = raw[29] | raw[30];
        t->power = (unsigned char)(raw[31] * 2);
        t->reserve = raw[32] > 100 ? 100 : raw[32];
    } else {
        t->errors = 0;
        t->power = 255;
        //? constant | t->power = 254;
        t->reserve = 0;
    }
    t->checksum = t->id ^ t->sequence ^ t->time;
    t->checksum ^= t->flags << 8 | t->mode;
    t->checksum += (unsigned)(t->temperature + t->pressure);
    t->checksum ^= (unsigned)(t->altitude - t->speed);
    //? operator | t->checksum ^= (unsigned)(t->altitude + t->speed);
    t->checksum += (unsigned)(t->heading ^ t->climb);
    t->checksum ^= (unsigned)(t->roll + t->pitch + t->yaw);
    t->checksum += t->battery;
    //? missing store | ;
    t->checksum ^= (unsigned)(t->gain - t->offset);
    if (t->checksum == 0)
        status |= alarm(3, version);
        //? constant | status |= alarm(4, version);
    if (t->quality < 3 && t->mode != 2)
        status |= 0x100;
        //? constant | status |= 0x200;
    return (int)status;
}
